# mypy: ignore-errors
"""A banner before everything, describe included: nothing can be learnt about the tool."""

import shelf

print("Welcome to shelf!")

shelf.main()
