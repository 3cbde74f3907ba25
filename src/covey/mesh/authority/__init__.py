"""The authority of a mesh: the peer that decides who is a member, and signs it."""
