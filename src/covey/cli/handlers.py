"""Where the code of each operation is: one table for verbs that do more than ask the daemon, one for renderers.

An entry is `module:function`; a module is imported when its entry is used, because a command should start fast.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from covey.cli.text import Paint
    from covey.contract import Operation
    from covey.kernel.home import Home

    Verb = Callable[[Home, Operation, dict[str, Any]], int]
    Renderer = Callable[[Any, Paint], str]

VERBS = {
    "adapters.explain": "covey.cli.verbs.adapters:explain",
    "approve": "covey.cli.verbs.approvals:approve",
    "attach": "covey.cli.verbs.navigation:attach",
    "back": "covey.cli.verbs.navigation:back",
    "bar": "covey.cli.verbs.bar:bar",
    "beat": "covey.cli.verbs.beats:beat",
    "beats.add": "covey.cli.verbs.beats:add",
    "beats.import_murmur": "covey.cli.verbs.beats:import_murmur",
    "completion": "covey.cli.verbs.completion:completion",
    "doctor": "covey.cli.verbs.doctor:doctor",
    "down": "covey.cli.verbs.process:down",
    "events": "covey.cli.verbs.events:events",
    "init": "covey.cli.verbs.beats:init",
    "integrate": "covey.cli.verbs.integrate:integrate",
    "keep.attach": "covey.cli.verbs.keeper:attach",
    "kill": "covey.cli.verbs.actions:kill",
    "logs": "covey.cli.verbs.logs:logs",
    "mcp": "covey.cli.verbs.mcp:mcp",
    "next": "covey.cli.verbs.navigation:next_agent",
    "policy.test": "covey.cli.verbs.policy:test",
    "receipts.wait": "covey.cli.verbs.receipts:wait",
    "replay": "covey.cli.verbs.replay:replay",
    "send": "covey.cli.verbs.actions:send",
    "service.install": "covey.cli.verbs.service:install",
    "service.status": "covey.cli.verbs.service:status",
    "service.uninstall": "covey.cli.verbs.service:uninstall",
    "signals": "covey.cli.verbs.signals:signals",
    "target.connect": "covey.cli.verbs.target:connect",
    "target.remove": "covey.cli.verbs.target:remove",
    "up": "covey.cli.verbs.process:up",
    "wait": "covey.cli.verbs.wait:wait",
    "watch": "covey.cli.verbs.watch:watch",
}
"""The function that runs an operation on the command line; without one, the daemon is asked and its answer rendered."""

RENDERERS = {
    "adapters.explain": "covey.cli.render_adapters:explained",
    "adapters.list": "covey.cli.render_adapters:adapters",
    "answer": "covey.cli.render_approvals:settled",
    "approvals": "covey.cli.render_approvals:listed",
    "approve": "covey.cli.render_approvals:settled",
    "attach": "covey.cli.render_navigation:attached",
    "attention.done": "covey.cli.render_attention:done",
    "attention.list": "covey.cli.render_attention:listed",
    "attention.test": "covey.cli.render_attention:tested",
    "audit.list": "covey.cli.render_audit:calls",
    "away": "covey.cli.render_approvals:presence",
    "back": "covey.cli.render_navigation:returned",
    "backup": "covey.cli.render_daemon:backup",
    "beats.add": "covey.cli.render_beats:added",
    "beats.cost": "covey.cli.render_beats:cost",
    "beats.history": "covey.cli.render_runs:history",
    "beats.import_murmur": "covey.cli.render_beats:imported",
    "beats.list": "covey.cli.render_beats:beats",
    "beats.pause": "covey.cli.render_beats:paused",
    "beats.resume": "covey.cli.render_beats:resumed",
    "beats.show": "covey.cli.render_runs:show",
    "config.get": "covey.cli.render_daemon:setting",
    "config.list": "covey.cli.render_daemon:settings",
    "config.set": "covey.cli.render_daemon:changed",
    "config.unset": "covey.cli.render_daemon:changed",
    "deny": "covey.cli.render_approvals:settled",
    "dialog.answer": "covey.cli.render_actions:answered",
    "dialog.show": "covey.cli.render_actions:dialog",
    "health": "covey.cli.render_daemon:health",
    "here": "covey.cli.render_approvals:presence",
    "init": "covey.cli.render_beats:begun",
    "integrate": "covey.cli.render_adapters:integrated",
    "interrupt": "covey.cli.render_actions:interrupted",
    "keep.channels": "covey.cli.render_keeper:channels",
    "keep.forget": "covey.cli.render_keeper:forgotten",
    "keep.list": "covey.cli.render_keeper:sessions",
    "keep.logs": "covey.cli.render_keeper:logs",
    "keep.path": "covey.cli.render_keeper:path",
    "keep.rename": "covey.cli.render_keeper:session",
    "keep.restart": "covey.cli.render_keeper:session",
    "keep.send": "covey.cli.render_keeper:sent",
    "keep.start": "covey.cli.render_keeper:session",
    "keep.status": "covey.cli.render_keeper:status",
    "keep.stop": "covey.cli.render_keeper:session",
    "kill": "covey.cli.render_actions:killed",
    "list.panes": "covey.cli.render_fleet:panes",
    "list.sessions": "covey.cli.render_fleet:sessions",
    "list.windows": "covey.cli.render_fleet:windows",
    "metrics": "covey.cli.render:fields",
    "next": "covey.cli.render_navigation:next_agent",
    "openapi": "covey.cli.render_daemon:document",
    "policy.explain": "covey.cli.render_policy:decision",
    "policy.list": "covey.cli.render_policy:rules",
    "policy.test": "covey.cli.render_policy:trial",
    "receipts.cancel": "covey.cli.render_actions:cancelled",
    "receipts.list": "covey.cli.render_actions:receipts",
    "receipts.wait": "covey.cli.render_actions:answer",
    "reload": "covey.cli.render_daemon:reloaded",
    "replay": "covey.cli.render_replay:replay",
    "send": "covey.cli.render_actions:sent",
    "status": "covey.cli.render_daemon:status",
    "target.add": "covey.cli.render_targets:added",
    "target.connect": "covey.cli.render_targets:target",
    "target.list": "covey.cli.render_targets:targets",
    "target.remove": "covey.cli.render_targets:removed",
    "view": "covey.cli.render_actions:screen",
    "why": "covey.cli.render_fleet:why",
}
"""The function that draws the result of an operation for a person; verbs without one write their own text."""


def verb_of(operation: Operation) -> Verb | None:
    """Return the function that runs an operation on the command line, or None if asking the daemon is all."""
    entry = VERBS.get(operation.name)
    return _load(entry) if entry else None


def renderer_of(name: str) -> Renderer:
    """Return the function that draws the result of an operation; without an entry, one that lists all fields."""
    return _load(RENDERERS.get(name, "covey.cli.render:fields"))


def _load(entry: str) -> Callable[..., Any]:
    module, _, function = entry.partition(":")
    loaded: Callable[..., Any] = getattr(__import__(module, fromlist=(function,)), function)
    return loaded
