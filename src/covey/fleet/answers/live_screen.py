"""The screen of a running agent, with its terminal and versions, for a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.fleet.answers.references import resolve
from covey.tmux.errors import TmuxError
from murli import tool_error

if TYPE_CHECKING:
    from covey.fleet.fleet import Fleet
    from covey.fleet.state.model import Claim

ABOUT = "#{version} #{pane_width}x#{pane_height} #{pane_in_mode}"


async def live_screen(fleet: Fleet, ref: str) -> dict[str, Any]:
    """Return what `adapters explain` needs of the agent that `ref` names.

    Raises AgentError if there is none, or if tmux does not show its pane.
    """
    row = resolve(ref, fleet.rows())
    watch = fleet.watches[row.target]
    try:
        screen = await watch.command(row.socket, "capture-pane", "-p", "-e", "-t", row.pane_id)
        version, size, in_mode = (await watch.command(row.socket, "display-message", "-p", "-t", row.pane_id, ABOUT))[
            0
        ].split(" ")
        terminal = await watch.command(row.socket, "show-options", "-gv", "default-terminal")
    except (TmuxError, IndexError, ValueError) as error:
        raise tool_error(f"the pane {row.pane_id} cannot be looked at: {error}", "See `covey target list`.") from error
    verdict = fleet.verdict(row.runtime_id)
    decided = {one.claim.source: f"overruled: {one.why}" for one in verdict.overruled}
    adapter = fleet.registry.adapters[row.agent]
    return {
        "agent": row.agent,
        "agent_version": row.version,
        "title": row.title,
        "screen": "\n".join(screen),
        "about": {
            "version": row.version_note
            or ("measured" if row.version in adapter.tested else "not known" if not row.version else ""),
            "tested": ", ".join(adapter.tested),
            "tmux": version,
            "size": size,
            "terminal": " ".join(terminal),
            "mode": "a mode of tmux covers the pane" if in_mode != "0" else "",
            "title": row.title,
            "covey says": f"{row.state} ({row.reason}), {row.confidence} confidence",
        },
        "sources": [_source(claim, decided.get(claim.source, "")) for claim in fleet.claims(row.runtime_id)],
    }


def _source(claim: Claim, decided: str) -> dict[str, Any]:
    evidence = claim.evidence or claim.reason
    if decided:
        evidence = f"{evidence} ({decided})"
    return {"source": claim.source, "state": claim.state, "evidence": evidence}
