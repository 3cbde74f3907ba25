"""`covey init`, `covey beat`, `covey beats add` and `covey beats import`.

They change files of the user in this process, or wait for a run.
"""

from __future__ import annotations

import os

from covey.cli.perform import ask, show
from covey.contract import OPERATIONS
from covey.kernel.client import Client, Interrupted, NotRunning
from covey.kernel.quoting import quoted
from murli import AgentError, not_found, user_error, writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from covey.cli.beat_wait import Waiting
    from covey.contract import Operation
    from covey.kernel.home import Home
    from murli import Writer


def init(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Write a HEARTBEAT.md, and show what is left to do."""
    from covey.beats.template import init as write

    _refuse_empty(params)
    result = write(params["path"])
    result |= {"config": home.node.config_file, "scheduled": _is_scheduled(home, result["workspace"])}
    return _answer(operation, result)


def add(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Put a folder on the schedule, and agree to its options; a daemon that runs has it at once."""
    from covey.beats.agreements import described
    from covey.beats.heartbeat_files import FILE, FOLDER
    from covey.beats.workspaces import add_workspaces, agree, check_workspace

    _refuse_empty(params)
    workspace = os.path.realpath(params["path"])
    if not os.path.isdir(workspace):
        raise not_found(f"{workspace} is not a folder", "Name the folder in which a HEARTBEAT.md is.", field="path")
    if not os.path.exists(os.path.join(workspace, FILE)) and not os.path.isdir(os.path.join(workspace, FOLDER)):
        raise not_found(
            f"there is no HEARTBEAT.md in {workspace}", f"Begin with: covey init {quoted(workspace)}", field="path"
        )
    found = check_workspace(_workspaces(home), workspace, os.path.expanduser("~"))
    agree(home, found)  # first: a daemon that saw the workspace before would agree to what the files say then
    added: list[str] = []
    if not _is_scheduled(home, workspace):
        added, _ = add_workspaces(home, [{"path": workspace}], os.path.expanduser("~"))
    _reload(home)
    agreed = [{"name": one.name, "file": one.file, "options": described(one.agreed_to or {})} for one in found]
    result = {"workspace": workspace, "config": home.node.config_file, "added": bool(added), "agreed": agreed}
    return _answer(operation, result)


def import_murmur(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Take over murmur's workspaces; a running daemon loads them at once. Exit code 3 if some were left out."""
    from covey.beats.murmur import USUAL_FILE, import_file
    from murli import EXIT_PARTIAL

    user_home = os.path.expanduser("~")
    if params["path"] is None:
        params["path"] = os.path.join(user_home, USUAL_FILE)
    _refuse_empty(params)
    result = import_file(home, params["path"], user_home)
    _reload(home)
    _answer(operation, result)
    return EXIT_PARTIAL if result["left_out"] else 0


def _refuse_empty(params: dict[str, Any]) -> None:
    """Raise for an empty path: it is an unset variable in a script, not this folder."""
    if params["path"] == "":
        raise user_error("the path is empty", "Name a folder; `.` is this one.", field="path")


def _reload(home: Home) -> None:
    """Make a running daemon read the configuration again."""
    try:
        Client(home.node.socket).call(_operation("reload"), {})
    except NotRunning:
        pass
    except AgentError as error:
        writer().log(f"the daemon has not reloaded its configuration: {error.message}", "warning")


def beat(home: Home, operation: Operation, params: dict[str, Any]) -> int:
    """Run a heartbeat and wait for its outcome: in the daemon if it runs, else in this process.

    Exit code 0 if the run had an answer, whatever it found. Raises the error of a run that failed.
    """
    from covey.cli.beat_wait import Waiting, failed

    _refuse_empty(params)
    out = writer()
    with Waiting(out, verbose=params["verbose"]) as waiting:
        done = _through_daemon(home, operation, params, waiting)
        known = done is not None
        if done is None:
            done = _here(home, params, waiting)
    if not params["verbose"]:
        done.pop("turns", None)
    if done["outcome"] == "error":
        if out.is_tty and params["verbose"]:
            out.line(f"\n{_conversation(done, out)}")
        raise failed(done, known=known)
    out.success(lambda shown: _text(shown, out), done)
    return 0


def _through_daemon(
    home: Home, operation: Operation, params: dict[str, Any], waiting: Waiting
) -> dict[str, Any] | None:
    """Return the run when it has ended; None if no daemon runs."""
    from covey.cli.beat_wait import reference
    from murli import EXIT_CANCELLED

    client = Client(home.node.socket)
    try:
        cursor = client.call(_operation("status"), {})["events"]["cursor"]
        run = ask(home, operation, params)
    except NotRunning:
        return None
    waiting.for_run(run)
    see = f"covey beats show {reference(run)}"
    try:
        done = _followed(home, run["run"], cursor, waiting)
        return dict(client.call(_operation("beats.show"), {"run": run["run"]})) if params["verbose"] else done
    except KeyboardInterrupt:
        raise AgentError(
            f"{run['beat']} runs on in the daemon",
            code=EXIT_CANCELLED,
            error="cancelled",
            suggestion=f"See how it went: {see}",
            recoverable=True,
        ) from None
    except (Interrupted, NotRunning) as error:
        error.message = f"{error.message}: the outcome of {run['beat']} is not known"
        error.suggestion = f"Run `covey up`, then: `{see}`"
        raise


def _followed(home: Home, run: str, cursor: int, waiting: Waiting) -> dict[str, Any]:
    """Return the run when it has ended. After a restart the daemon is asked for what came after the last event."""
    from covey.cli.following import GAP, LOST, following
    from covey.contract.beats_events import BEAT_FINISHED, BEAT_STEP

    asked = {"follow": True, "since": cursor, "kind": ["beat.*"]}
    last_step = 0
    for message in following(home.node.socket, _operation("events"), lambda: asked, connected=True):
        event, name = message["data"], message.get("event")
        if name == LOST:
            waiting.lost()
            continue
        if name == GAP:  # the end of the run may be among the events that are no longer kept
            shown = Client(home.node.socket).call(_operation("beats.show"), {"run": run})
            if shown["state"] == "done":
                return dict(shown)
            continue
        asked["since"] = event["cursor"]
        if event["subject"] != run:
            continue
        if event["kind"] == BEAT_STEP:
            if event["data"]["number"] <= last_step:  # a daemon that has adopted the run starts again at step 1
                continue
            last_step = event["data"]["number"]
            waiting.step(event["data"]["kind"], event["data"]["name"], event["data"]["text"])
        elif event["kind"] == BEAT_FINISHED:
            return dict(event["data"])
        else:
            waiting.for_run(event["data"])
    raise NotRunning("it has stopped")


def _here(home: Home, params: dict[str, Any], waiting: Waiting) -> dict[str, Any]:
    from covey.beats.foreground import run_in_foreground
    from covey.cli.person import check_person
    from covey.node.settings import SETTINGS

    check_person(home, _operation("beat"), params)
    return run_in_foreground(
        home,
        SETTINGS,
        params["path"],
        params["name"],
        verbose=params["verbose"],
        on_start=waiting.for_run,
        on_step=lambda step: waiting.step(step.kind, step.name, step.text),
    )


def _text(done: dict[str, Any], out: Writer) -> str:
    from covey.cli.render_runs import result_line
    from covey.cli.text import Paint, columns

    turns = _conversation(done, out)
    return (f"\n{turns}\n\n" if turns else "") + result_line(done, Paint(columns(), colour=out.colour))


def _conversation(done: dict[str, Any], out: Writer) -> str:
    """Return the conversation of a run, if it is known."""
    from covey.cli.render_runs import conversation
    from covey.cli.text import Paint, columns

    return "\n".join(conversation(done.get("turns") or [], Paint(columns(), colour=out.colour)))


def _answer(operation: Operation, result: dict[str, Any]) -> int:
    show(operation, result)
    return 0


def _workspaces(home: Home) -> list[dict[str, Any]]:
    from covey.kernel.config.config import Config
    from covey.node.settings import SETTINGS

    return list(Config.load(home.node, SETTINGS).get("beats.workspace"))


def _is_scheduled(home: Home, workspace: str) -> bool:
    listed = _workspaces(home)
    return any(
        os.path.realpath(os.path.expanduser(str(table.get("path", "")))) == os.path.realpath(workspace)
        for table in listed
    )


def _operation(name: str) -> Operation:
    return next(operation for operation in OPERATIONS if operation.name == name)
