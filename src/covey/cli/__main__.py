"""`python -m covey.cli` is `covey`."""

from covey.cli import main

main()
