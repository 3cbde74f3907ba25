# mypy: ignore-errors
"""One command prints text into the pipe."""

import shelf

shelf.do_status = lambda call: shelf.write(f"Region {call.get('region')}")

shelf.main()
