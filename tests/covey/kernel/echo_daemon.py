"""A second kind of daemon with one tiny subsystem, made of the same kernel: `python echo_daemon.py HOME`."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from covey.contract import Operation, Parameter
from covey.kernel.config.setting import Setting
from covey.kernel.daemon_process import run
from covey.kernel.doctor.doctor import Check, Examination
from covey.kernel.doctor.finding import OK, WARN, Finding
from covey.kernel.home import Home
from covey.kernel.operations.call import Call
from covey.kernel.store.migrations import Migration
from covey.kernel.subsystem import Context, Opened, Subsystem

KIND, NAME = "echo", "one"
SAY = Operation(
    "say",
    "Repeat a text.",
    cli=["say"],
    method="POST",
    route="/v1/say",
    mutating=True,
    guard=False,
    parameters=[Parameter("text", "What to repeat.", required=True)],
    served_by=KIND,
)
CHILD = ("/bin/sleep", "600")


@contextlib.asynccontextmanager
async def opened(context: Context) -> AsyncIterator[Opened]:
    context.supervisor.keep("sleeper", CHILD, {}, outlives=True)

    async def say(call: Call) -> dict[str, Any]:
        greeting = context.config.current.get("echo.greeting")
        await context.store.write(lambda database: database.execute("INSERT INTO echo VALUES (?)", [greeting]) and None)
        return {"said": f"{greeting}{call.params['text']}", "caller": call.caller.uid}

    async def count() -> int:
        return await context.store.read(lambda database: database.execute("SELECT count(*) FROM echo").fetchone()[0])

    before = await count()
    yield Opened({"say": say}, lambda: {"before": before})


def checks(examination: Examination) -> Sequence[Check]:
    return [Check("echo", "echo", lambda: Finding("echo", "echo", OK, examination.seat.directory))]


def findings(part: dict[str, Any]) -> Iterator[Finding]:
    yield Finding("echo", "said", WARN, f"{part['before']} before")


ECHO = Subsystem(
    "echo",
    opened,
    operations=[SAY],
    migrations=[Migration("echo.greetings", "CREATE TABLE echo (greeting TEXT NOT NULL) STRICT")],
    settings=[Setting("echo.greeting", "Put before each text.", consent=False, default="")],
    checks=checks,
    findings=findings,
)


def main() -> int:
    seat = Home(sys.argv[1]).seat(KIND, NAME)
    seat.prepare()
    return run(seat, [ECHO], lambda outcome: print(json.dumps(outcome), flush=True))


if __name__ == "__main__":
    sys.exit(main())
