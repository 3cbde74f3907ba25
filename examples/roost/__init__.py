"""One small tool, written three times: with argparse, with click and with typer.

`birds` does the work and answers through murli's writer, `about` holds what agents should know; the three front ends
only declare commands and flags.
"""
