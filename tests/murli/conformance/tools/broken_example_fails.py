# mypy: ignore-errors
"""An example announces success and fails."""

import shelf

shelf.find(("find",))["examples"][1].pop("expected_exit_code")

shelf.main()
