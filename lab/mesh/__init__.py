"""Faults of a mesh, made on purpose: real peers and brokers, and a verifier that counts what was lost or doubled."""
