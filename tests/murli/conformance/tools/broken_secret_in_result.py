# mypy: ignore-errors
"""One command shows the token it used in its result."""

import shelf

shelf.do_status = lambda call: shelf.succeed(call, "fine", {"region": call.get("region"), "token": call.get("token")})

shelf.main()
