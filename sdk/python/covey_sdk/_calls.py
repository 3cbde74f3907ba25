"""The calls of both kinds of daemons.

Generated from Covey's contract by `./run python -m sdk.generate`; do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from covey_sdk._wire import NULL

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from covey_sdk import _types as t
    from covey_sdk._client import Blocking


class NodeTmuxCalls:
    """The calls under `tmux`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def alert(
        self,
        *,
        text: str | None = None,
        bell: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.TmuxAlert:
        """Alert the people at the tmux clients of this machine.

        text: For the message line; none if it is empty.
        bell: Ring the bell of the terminal.
        """
        answer: t.TmuxAlert = self._client.call(
            "POST", "/v1/tmux/alert", {"text": text, "bell": bell}, True, idempotency_key, deadline_s
        )
        return answer


class NodeTargetCalls:
    """The calls under `target`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def add(
        self,
        name: str,
        kind: Literal["local", "ssh"],
        *,
        ssh_target: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.ConfiguredTarget:
        """Add a host whose agents are to be observed.

        name: Name of the target.
        kind: This machine, or one reached by ssh.
        ssh_target: Host or alias as you would give it to ssh; the name of the target if left out.
        """
        answer: t.ConfiguredTarget = self._client.call(
            "POST",
            "/v1/targets",
            {"name": name, "kind": kind, "ssh_target": ssh_target},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def connect(
        self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.ConfiguredTarget:
        """Connect to a target now, and report the result.

        name: Name of the target.
        """
        answer: t.ConfiguredTarget = self._client.call(
            "POST", "/v1/targets/{name}/connect", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, *, deadline_s: float | None = None) -> t.TargetList:
        """List the targets and how well each can be reached."""
        answer: t.TargetList = self._client.call("GET", "/v1/targets", {}, False, None, deadline_s)
        return answer

    def remove(
        self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.RemovedTarget:
        """Forget a target. Its agents keep running.

        name: Name of the target.
        """
        answer: t.RemovedTarget = self._client.call(
            "DELETE", "/v1/targets/{name}", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer


class NodeReceiptsCalls:
    """The calls under `receipts`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, limit: int | None = None, deadline_s: float | None = None) -> t.ReceiptList:
        """List the messages that were sent, the latest first.

        limit: How many.
        """
        answer: t.ReceiptList = self._client.call("GET", "/v1/receipts", {"limit": limit}, False, None, deadline_s)
        return answer

    def wait(self, id: str, *, timeout: str | None = None, deadline_s: float | None = None) -> t.Answer:
        """Wait for the answer to a message.

        id: The id of the receipt, or its end.
        timeout: How long to wait at most, such as 10m; without it, for ever.
        """
        answer: t.Answer = self._client.last("/v1/receipts/{id}/wait", {"id": id, "timeout": timeout}, deadline_s)
        return answer

    def cancel(self, id: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Receipt:
        """Take back a message that waits for its agent.

        id: The id of the receipt, or its end.
        """
        answer: t.Receipt = self._client.call(
            "POST", "/v1/receipts/{id}/cancel", {"id": id}, True, idempotency_key, deadline_s
        )
        return answer


class NodePolicyCalls:
    """The calls under `policy`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.PolicyRules:
        """List the rules of the policy, those that win first, and what is wrong with them."""
        answer: t.PolicyRules = self._client.call("GET", "/v1/policy", {}, False, None, deadline_s)
        return answer

    def explain(
        self,
        *,
        agent: str | None = None,
        tool: str | None = None,
        command: str | None = None,
        path: Sequence[str] | None = None,
        input: str | None = None,
        target: str | None = None,
        folder: str | None = None,
        deadline_s: float | None = None,
    ) -> t.PolicyDecision:
        """Show what would be decided about a request, and by which rule.

        agent: Which agent asks, such as claude.
        tool: The tool that it wants to use, such as Bash.
        command: The command that it wants to run.
        path: A file that it wants to write or read; repeatable.
        input: The whole input of the tool instead, a JSON object.
        target: The machine that it runs on.
        folder: The folder that it works in.
        """
        answer: t.PolicyDecision = self._client.call(
            "POST",
            "/v1/policy/explain",
            {
                "agent": agent,
                "tool": tool,
                "command": command,
                "path": path,
                "input": input,
                "target": target,
                "folder": folder,
            },
            False,
            None,
            deadline_s,
        )
        return answer

    def test(
        self,
        *,
        rules: str | None = None,
        since: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.PolicyTrial:
        """Run a policy over the requests of the past, and show what would have been decided.

        rules: Tables [[policy.rule]] as TOML, instead of those in force; on the command line a file that holds them,
            or - for standard input.
        since: How far back: 30d, or 2026-01-31T14:05:00Z.
        limit: How many requests to list.
        """
        answer: t.PolicyTrial = self._client.call(
            "POST", "/v1/policy/test", {"rules": rules, "since": since, "limit": limit}, False, None, deadline_s
        )
        return answer


class NodeMeshCalls:
    """The calls under `mesh`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def create(
        self,
        slug: str,
        *,
        name: str | None = None,
        nats: Sequence[str] | None = None,
        operator: str | None = None,
        replicas: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.JoinedMesh:
        """Create a mesh, and be its first member.

        slug: A short name, such as team.
        name: The name of this member; the name of the host without it.
        nats: Address of a NATS server to use; repeatable.
        operator: File with the keys of that server's operator.
        replicas: Copies of each message in a cluster.
        """
        answer: t.JoinedMesh = self._client.call(
            "POST",
            "/v1/mesh",
            {"slug": slug, "name": name, "nats": nats, "operator": operator, "replicas": replicas},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def join(
        self,
        token: str,
        *,
        name: str | None = None,
        slug: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.JoinedMesh:
        """Join a mesh with an invite.

        token: The text of the invite; - reads it from standard input.
        name: The name of this member; the name of the host without it.
        slug: Another slug than the invite's, if you have one of that name.
        """
        answer: t.JoinedMesh = self._client.call(
            "POST", "/v1/mesh/join", {"token": token, "name": name, "slug": slug}, True, idempotency_key, deadline_s
        )
        return answer

    def leave(self, slug: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.LeftMesh:
        """Leave a mesh: the others are told, and the peer here ends.

        slug: The slug of the mesh.
        """
        answer: t.LeftMesh = self._client.call(
            "POST", "/v1/mesh/leave", {"slug": slug}, True, idempotency_key, deadline_s
        )
        return answer

    def reset(self, slug: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.ResetMesh:
        """Remove a mesh from this machine: keys, inbox, outbox and all. Nobody is told.

        slug: The slug of the mesh.
        """
        answer: t.ResetMesh = self._client.call(
            "POST", "/v1/mesh/reset", {"slug": slug}, True, idempotency_key, deadline_s
        )
        return answer

    def up(
        self,
        slug: str | None = None,
        *,
        all: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.JoinedMeshes:
        """Keep a peer running, from now on.

        slug: The slug of the mesh; needed if there are several.
        all: All meshes that were joined.
        """
        answer: t.JoinedMeshes = self._client.call(
            "POST", "/v1/mesh/up", {"slug": slug, "all": all}, True, idempotency_key, deadline_s
        )
        return answer

    def down(
        self,
        slug: str | None = None,
        *,
        all: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.JoinedMeshes:
        """End a peer. It stays down, over restarts of the daemon too, until `covey mesh up`.

        slug: The slug of the mesh; needed if there are several.
        all: All meshes that were joined.
        """
        answer: t.JoinedMeshes = self._client.call(
            "POST", "/v1/mesh/down", {"slug": slug, "all": all}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, *, deadline_s: float | None = None) -> t.JoinedMeshes:
        """List the meshes that were joined, their peers, and the broker."""
        answer: t.JoinedMeshes = self._client.call("GET", "/v1/mesh", {}, False, None, deadline_s)
        return answer

    def expose(
        self,
        *,
        listen: str | None = None,
        websocket: str | None = None,
        names: Sequence[str] | None = None,
        off: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshBroker:
        """Open the broker of this home to other machines, with TLS.

        listen: Address to listen at, such as 0.0.0.0:4222 or 10.0.0.5; without a port, the one it has.
        websocket: Address for WebSocket clients, such as 0.0.0.0:8443.
        names: A host name or address by which others reach it; repeatable.
        off: Listen on loopback only.
        """
        answer: t.MeshBroker = self._client.call(
            "POST",
            "/v1/mesh/expose",
            {"listen": listen, "websocket": websocket, "names": names, "off": off},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class NodeListCalls:
    """The calls under `list`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def panes(
        self,
        *,
        target: str | None = None,
        all_targets: bool | None = None,
        target_session: str | None = None,
        session: str | None = None,
        socket: str | None = None,
        cwd: str | None = None,
        state: Sequence[str] | None = None,
        agent_type: Sequence[str] | None = None,
        needs_action: bool | None = None,
        sort: Literal["needs", "age", "where", "agent", "folder"] | None = None,
        wide: bool | None = None,
        deadline_s: float | None = None,
    ) -> t.AgentList:
        """List every agent, those that need you first.

        target: Only this target.
        all_targets: All targets, as without this flag.
        target_session: Only this session of this target: <target>/<session>.
        session: Only sessions of this name.
        socket: Only this tmux server: its name as for tmux -L, or the path of its socket.
        cwd: Only agents that work in this folder or below.
        state: Only agents in this state, or in several with commas between. One of: error, waiting_approval,
            waiting_input, running, completed, idle, unknown; repeatable.
        agent_type: Only this kind of agent, such as claude; repeatable.
        needs_action: Only agents that wait for a person or have failed.
        sort: The order: agents that need you first, by age, by place, by kind of agent or by folder.
        wide: On a terminal, show every column: version, pane, whole folder and confidence too.
        """
        answer: t.AgentList = self._client.call(
            "GET",
            "/v1/panes",
            {
                "target": target,
                "all_targets": all_targets,
                "target_session": target_session,
                "session": session,
                "socket": socket,
                "cwd": cwd,
                "state": state,
                "agent_type": agent_type,
                "needs_action": needs_action,
                "sort": sort,
                "wide": wide,
            },
            False,
            None,
            deadline_s,
        )
        return answer

    def windows(
        self,
        *,
        target: str | None = None,
        all_targets: bool | None = None,
        target_session: str | None = None,
        session: str | None = None,
        socket: str | None = None,
        with_agent_status: bool | None = None,
        deadline_s: float | None = None,
    ) -> t.WindowList:
        """List the windows that hold agents, with the top state of each.

        target: Only this target.
        all_targets: All targets, as without this flag.
        target_session: Only this session of this target: <target>/<session>.
        session: Only sessions of this name.
        socket: Only this tmux server: its name as for tmux -L, or the path of its socket.
        with_agent_status: Name the agents of each window and their states.
        """
        answer: t.WindowList = self._client.call(
            "GET",
            "/v1/windows",
            {
                "target": target,
                "all_targets": all_targets,
                "target_session": target_session,
                "session": session,
                "socket": socket,
                "with_agent_status": with_agent_status,
            },
            False,
            None,
            deadline_s,
        )
        return answer

    def sessions(
        self,
        *,
        target: str | None = None,
        all_targets: bool | None = None,
        socket: str | None = None,
        agent_summary: bool | None = None,
        group_by: Literal["target-session", "session-name"] | None = None,
        deadline_s: float | None = None,
    ) -> t.SessionList:
        """List the sessions that hold agents, with counts by state.

        target: Only this target.
        all_targets: All targets, as without this flag.
        socket: Only this tmux server: its name as for tmux -L, or the path of its socket.
        agent_summary: Count by kind of agent as well.
        group_by: Keep sessions of the same name on different targets apart, or merge them.
        """
        answer: t.SessionList = self._client.call(
            "GET",
            "/v1/sessions",
            {
                "target": target,
                "all_targets": all_targets,
                "socket": socket,
                "agent_summary": agent_summary,
                "group_by": group_by,
            },
            False,
            None,
            deadline_s,
        )
        return answer


class NodeKeepCalls:
    """The calls under `keep`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def start(
        self,
        name: str | None = None,
        args: Sequence[str] | None = None,
        *,
        agent: Literal["claude", "codex", "gemini", "copilot", "opencode"] | None = None,
        cwd: str | None = None,
        env: Sequence[str] | None = None,
        model: str | None = None,
        permission_mode: str | None = None,
        worktree: bool | None = None,
        branch: str | None = None,
        keep: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.KeptSession:
        """Start an agent in a tmux session of its own, and keep it running.

        name: The name of the session; without it, the one of the setting keeper.session.
        args: Arguments of the agent's own, after --.
        agent: Which agent; claude unless said otherwise.
        cwd: The folder in which it works; your own without it.
        env: A variable for the agent, as NAME=VALUE, or NAME for the daemon's own value; repeatable. Values are kept
            in Covey's database.
        model: The model, as the agent calls it.
        permission_mode: The agent's permission mode, in its own words.
        worktree: Work in a new git worktree of the folder.
        branch: The branch of that worktree; made if it is missing. keep/<name> without it.
        keep: Start it again after a restart of the machine, too.
        """
        answer: t.KeptSession = self._client.call(
            "POST",
            "/v1/keep",
            {
                "name": name,
                "args": args,
                "agent": agent,
                "cwd": cwd,
                "env": env,
                "model": model,
                "permission_mode": permission_mode,
                "worktree": worktree,
                "branch": branch,
                "keep": keep,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def stop(self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.KeptSession:
        """End a kept agent and its tmux session. It is not started again.

        name: The name of the session.
        """
        answer: t.KeptSession = self._client.call(
            "POST", "/v1/keep/{name}/stop", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer

    def restart(
        self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.KeptSession:
        """End a kept agent and start it again, with its conversation.

        name: The name of the session.
        """
        answer: t.KeptSession = self._client.call(
            "POST", "/v1/keep/{name}/restart", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, *, deadline_s: float | None = None) -> t.KeptSessions:
        """List the kept sessions."""
        answer: t.KeptSessions = self._client.call("GET", "/v1/keep", {}, False, None, deadline_s)
        return answer

    def status(self, name: str, *, deadline_s: float | None = None) -> t.KeptStatus:
        """Show one kept session: its agent, its channels and what waits for it.

        name: The name of the session.
        """
        answer: t.KeptStatus = self._client.call("GET", "/v1/keep/{name}", {"name": name}, False, None, deadline_s)
        return answer

    def logs(self, name: str, *, limit: int | None = None, deadline_s: float | None = None) -> t.KeeperRecords:
        """Show what happened to a kept session, the latest last.

        name: The name of the session.
        limit: How many records.
        """
        answer: t.KeeperRecords = self._client.call(
            "GET", "/v1/keep/{name}/logs", {"name": name, "limit": limit}, False, None, deadline_s
        )
        return answer

    def rename(
        self, name: str, new_name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.KeptSession:
        """Give a kept session another name.

        name: The name of the session.
        new_name: The new name.
        """
        answer: t.KeptSession = self._client.call(
            "POST", "/v1/keep/{name}/rename", {"name": name, "new_name": new_name}, True, idempotency_key, deadline_s
        )
        return answer

    def forget(self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Forgotten:
        """Forget a kept session that has ended, and the messages that wait for it.

        name: The name of the session.
        """
        answer: t.Forgotten = self._client.call(
            "POST", "/v1/keep/{name}/forget", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer

    def path(self, name: str | None = None, *, deadline_s: float | None = None) -> t.KeptPath:
        """Print the folder with the channels of a kept session.

        name: The name of the session; without it, the one of the setting keeper.session.
        """
        answer: t.KeptPath = self._client.call("GET", "/v1/keep-path", {"name": name}, False, None, deadline_s)
        return answer

    def channels(self, name: str, *, deadline_s: float | None = None) -> t.KeptChannels:
        """List the channels of a kept session.

        name: The name of the session.
        """
        answer: t.KeptChannels = self._client.call(
            "GET", "/v1/keep/{name}/channels", {"name": name}, False, None, deadline_s
        )
        return answer

    def send(
        self,
        name: str,
        channel: str,
        message: str,
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.ChannelWrite:
        """Send a message out on a channel of a kept session, as its agent does with send_to_channel.

        name: The name of the session.
        channel: The name of the channel.
        message: The text.
        """
        answer: t.ChannelWrite = self._client.call(
            "POST",
            "/v1/keep/{name}/send",
            {"name": name, "channel": channel, "message": message},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class NodeDialogCalls:
    """The calls under `dialog`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def show(self, ref: str, *, deadline_s: float | None = None) -> t.ShownDialog:
        """Show what an agent asks on its screen, and the keys that would answer it.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        """
        answer: t.ShownDialog = self._client.call("GET", "/v1/dialog", {"ref": ref}, False, None, deadline_s)
        return answer

    def answer(
        self,
        ref: str,
        *,
        choice: str | None = None,
        text: str | None = None,
        fingerprint: str | None = None,
        if_runtime: str | None = None,
        if_state: Sequence[str] | None = None,
        if_updated_within: str | None = None,
        force_stale: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.DialogAnswer:
        """Answer what an agent asks on its screen with the keys of a person, or refuse.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        choice: once, always or deny for an approval; the number of an option; or, for a question, its text.
        text: Your own words, for a question that takes them.
        fingerprint: Only if it is the dialog that `covey dialog show` showed.
        if_runtime: Only if it is this agent and no later one: runtime:<id> or <id>.
        if_state: Only if it is in this state, or in one of several; repeatable.
        if_updated_within: Only if its state was confirmed within this time, such as 10s.
        force_stale: Act although its state is another one, or old. Never on another agent.
        """
        answer: t.DialogAnswer = self._client.call(
            "POST",
            "/v1/dialog/answer",
            {
                "ref": ref,
                "choice": choice,
                "text": text,
                "fingerprint": fingerprint,
                "if_runtime": if_runtime,
                "if_state": if_state,
                "if_updated_within": if_updated_within,
                "force_stale": force_stale,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class NodeConfigCalls:
    """The calls under `config`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.SettingList:
        """List every setting, its value and where it comes from."""
        answer: t.SettingList = self._client.call("GET", "/v1/config", {}, False, None, deadline_s)
        return answer

    def get(self, key: str, *, deadline_s: float | None = None) -> t.Setting:
        """Show one setting.

        key: Name of a setting, such as log.level.
        """
        answer: t.Setting = self._client.call("GET", "/v1/config/{key}", {"key": key}, False, None, deadline_s)
        return answer

    def set(
        self, key: str, value: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.ChangedSetting:
        """Change one setting in config.toml, keeping its comments.

        key: Name of a setting, such as log.level.
        value: The new value, as TOML or as plain text.
        """
        answer: t.ChangedSetting = self._client.call(
            "PUT", "/v1/config/{key}", {"key": key, "value": value}, True, idempotency_key, deadline_s
        )
        return answer

    def unset(
        self, key: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.ChangedSetting:
        """Remove a setting from config.toml, so that its default applies.

        key: Name of a setting, such as log.level.
        """
        answer: t.ChangedSetting = self._client.call(
            "DELETE", "/v1/config/{key}", {"key": key}, True, idempotency_key, deadline_s
        )
        return answer


class NodeBeatsCalls:
    """The calls under `beats`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.BeatList:
        """List the beats: next run, last outcome, streak, cost."""
        answer: t.BeatList = self._client.call("GET", "/v1/beats", {}, False, None, deadline_s)
        return answer

    def history(
        self,
        name: str | None = None,
        *,
        outcome: Literal["ok", "attention", "error"] | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.BeatRunList:
        """List past runs, newest first.

        name: Only those of this beat.
        outcome: Only those with this outcome.
        limit: How many runs to list: a whole number from 1 to 1000, such as --limit 20.
        """
        answer: t.BeatRunList = self._client.call(
            "GET", "/v1/beats/runs", {"name": name, "outcome": outcome, "limit": limit}, False, None, deadline_s
        )
        return answer

    def show(self, run: str, *, deadline_s: float | None = None) -> t.BeatRunWithTurns:
        """Show one run: what was said, which tools were called, how long it took and what it cost.

        run: Id of a run, or enough of its end to know it.
        """
        answer: t.BeatRunWithTurns = self._client.call(
            "GET", "/v1/beats/runs/{run}", {"run": run}, False, None, deadline_s
        )
        return answer

    def cost(self, *, deadline_s: float | None = None) -> t.BeatCosts:
        """Show what the beats have cost, and what their budgets allow."""
        answer: t.BeatCosts = self._client.call("GET", "/v1/beats/cost", {}, False, None, deadline_s)
        return answer

    def pause(self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Beat:
        """Stop running a beat until it is resumed.

        name: Name of a beat.
        """
        answer: t.Beat = self._client.call("POST", "/v1/beats/pause", {"name": name}, True, idempotency_key, deadline_s)
        return answer

    def resume(
        self,
        name: str | None = None,
        *,
        all: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.ResumedBeats:
        """Run a beat again that was paused, by hand or by its budget.

        name: Name of a beat.
        all: All beats that are paused or parked.
        """
        answer: t.ResumedBeats = self._client.call(
            "POST", "/v1/beats/resume", {"name": name, "all": all}, True, idempotency_key, deadline_s
        )
        return answer


class NodeAuditCalls:
    """The calls under `audit`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(
        self,
        *,
        since: str | None = None,
        operation: Sequence[str] | None = None,
        limit: int | None = None,
        before: int | None = None,
        deadline_s: float | None = None,
    ) -> t.AuditTrail:
        """Show who did what: each call that changed something, or was refused.

        since: Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z.
        operation: Only calls of this operation, such as send; repeatable.
        limit: Only the last N.
        before: Only entries before this cursor: `earlier` of the answer before.
        """
        answer: t.AuditTrail = self._client.call(
            "GET",
            "/v1/audit",
            {"since": since, "operation": operation, "limit": limit, "before": before},
            False,
            None,
            deadline_s,
        )
        return answer


class NodeAttentionCalls:
    """The calls under `attention`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(
        self, *, all: bool | None = None, limit: int | None = None, deadline_s: float | None = None
    ) -> t.AttentionList:
        """List what needs you, the most blocking and longest waiting first.

        all: Closed items too.
        limit: How many.
        """
        answer: t.AttentionList = self._client.call(
            "GET", "/v1/attention", {"all": all, "limit": limit}, False, None, deadline_s
        )
        return answer

    def done(
        self, item: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.AttentionItem:
        """Close an item: somebody has seen to it.

        item: Id of an item, enough of its end to know it, or its key.
        """
        answer: t.AttentionItem = self._client.call(
            "POST", "/v1/attention/done", {"item": item}, True, idempotency_key, deadline_s
        )
        return answer

    def test(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.ChannelTest:
        """Send a test notification through every channel."""
        answer: t.ChannelTest = self._client.call("POST", "/v1/attention/test", {}, True, idempotency_key, deadline_s)
        return answer


class NodeAdaptersCalls:
    """The calls under `adapters`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.AdapterList:
        """List the agent programs that Covey knows, and what it can detect of each."""
        answer: t.AdapterList = self._client.call("GET", "/v1/adapters", {}, False, None, deadline_s)
        return answer

    def explain(
        self,
        agent: str | None = None,
        *,
        pane: str | None = None,
        screen: str | None = None,
        redact: bool | None = None,
        title: str | None = None,
        agent_version: str | None = None,
        deadline_s: float | None = None,
    ) -> t.ScreenReport:
        """Read a screen, and report which state it shows and which pattern matched.

        agent: Name of an agent program, such as claude; not needed with --pane.
        pane: A running agent: %14, api, api:2.1 or runtime:<id>.
        screen: The screen as text, also with escapes as capture-pane -e writes it; on the command line a file that
            holds it, or - for standard input.
        redact: Hide every letter and digit that the agent shows.
        title: The terminal's title.
        agent_version: Version of the agent; without it, the newest that is known.
        """
        answer: t.ScreenReport = self._client.call(
            "POST",
            "/v1/adapters/explain",
            {
                "agent": agent,
                "pane": pane,
                "screen": screen,
                "redact": redact,
                "title": title,
                "agent_version": agent_version,
            },
            False,
            None,
            deadline_s,
        )
        return answer


class NodeCalls:
    """The calls of the daemon `Node` stands for."""

    def __init__(self, client: Blocking) -> None:
        self._client = client
        self.adapters = NodeAdaptersCalls(client)
        self.attention = NodeAttentionCalls(client)
        self.audit = NodeAuditCalls(client)
        self.beats = NodeBeatsCalls(client)
        self.config = NodeConfigCalls(client)
        self.dialog = NodeDialogCalls(client)
        self.keep = NodeKeepCalls(client)
        self.list = NodeListCalls(client)
        self.mesh = NodeMeshCalls(client)
        self.policy = NodePolicyCalls(client)
        self.receipts = NodeReceiptsCalls(client)
        self.target = NodeTargetCalls(client)
        self.tmux = NodeTmuxCalls(client)

    def down(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.StoppedDaemon:
        """Stop the daemon."""
        answer: t.StoppedDaemon = self._client.call("POST", "/v1/down", {}, True, idempotency_key, deadline_s)
        return answer

    def status(self, *, deadline_s: float | None = None) -> t.Status:
        """Show the status of the daemon."""
        answer: t.Status = self._client.call("GET", "/v1/status", {}, False, None, deadline_s)
        return answer

    def health(self, *, deadline_s: float | None = None) -> t.HealthCheck:
        """Check whether the daemon answers."""
        answer: t.HealthCheck = self._client.call("GET", "/v1/health", {}, False, None, deadline_s)
        return answer

    def reload(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.ReloadedConfig:
        """Read the configuration again."""
        answer: t.ReloadedConfig = self._client.call("POST", "/v1/reload", {}, True, idempotency_key, deadline_s)
        return answer

    def metrics(self, *, deadline_s: float | None = None) -> str:
        """Print the metrics for Prometheus."""
        answer: str = self._client.call("GET", "/v1/metrics", {}, False, None, deadline_s)
        return answer

    def openapi(self, *, deadline_s: float | None = None) -> dict[str, Any]:
        """Print the OpenAPI document of the local API."""
        answer: dict[str, Any] = self._client.call("GET", "/v1/openapi.json", {}, False, None, deadline_s)
        return answer

    def doctor(self, *, deadline_s: float | None = None) -> t.Diagnosis:
        """Find what is missing or wrong, and the command that fixes it."""
        answer: t.Diagnosis = self._client.call("GET", "/v1/doctor", {}, False, None, deadline_s)
        return answer

    def backup(self, path: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Backup:
        """Copy the daemon's database to a new file, while it runs.

        path: File to write; it must not exist yet.
        """
        answer: t.Backup = self._client.call("POST", "/v1/backup", {"path": path}, True, idempotency_key, deadline_s)
        return answer

    def watch(
        self,
        *,
        target: str | None = None,
        all_targets: bool | None = None,
        target_session: str | None = None,
        session: str | None = None,
        socket: str | None = None,
        cwd: str | None = None,
        state: Sequence[str] | None = None,
        agent_type: Sequence[str] | None = None,
        needs_action: bool | None = None,
        scope: Literal["panes", "windows", "sessions"] | None = None,
        format: Literal["table", "jsonl"] | None = None,
        interval: str | None = None,
        since: str | None = None,
        once: bool | None = None,
        deadline_s: float | None = None,
    ) -> Iterator[t.WatchMessage]:
        """Show the agents, and every change as it comes.

        target: Only this target.
        all_targets: All targets, as without this flag.
        target_session: Only this session of this target: <target>/<session>.
        session: Only sessions of this name.
        socket: Only this tmux server: its name as for tmux -L, or the path of its socket.
        cwd: Only agents that work in this folder or below.
        state: Only agents in this state, or in several with commas between. One of: error, waiting_approval,
            waiting_input, running, completed, idle, unknown; repeatable.
        agent_type: Only this kind of agent, such as claude; repeatable.
        needs_action: Only agents that wait for a person or have failed.
        scope: What a row stands for.
        format: How the command line shows it; table on a terminal, else jsonl.
        interval: Repeat the snapshot this often, such as 5s; a table does so every 2s anyway.
        since: Begin with the changes since then: a time, how long ago (10m), or a cursor (cursor:42).
        once: Show the snapshot and end.
        """
        answer: Iterator[t.WatchMessage] = self._client.stream(
            "/v1/watch",
            {
                "target": target,
                "all_targets": all_targets,
                "target_session": target_session,
                "session": session,
                "socket": socket,
                "cwd": cwd,
                "state": state,
                "agent_type": agent_type,
                "needs_action": needs_action,
                "scope": scope,
                "format": format,
                "interval": interval,
                "since": since,
                "once": once,
            },
            deadline_s,
        )
        return answer

    def why(self, ref: str, *, deadline_s: float | None = None) -> t.Explanation:
        """Explain the state of an agent: which source decided, which agree, which were overruled.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        """
        answer: t.Explanation = self._client.call("GET", "/v1/why", {"ref": ref}, False, None, deadline_s)
        return answer

    def conversation(self, ref: str, *, deadline_s: float | None = None) -> t.Conversation:
        """Tell which conversation an agent has, and in which file it keeps it.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        """
        answer: t.Conversation = self._client.call("GET", "/v1/conversation", {"ref": ref}, False, None, deadline_s)
        return answer

    def wait(
        self,
        ref: str | None = None,
        *,
        any: bool | None = None,
        all: bool | None = None,
        state: Sequence[str] | None = None,
        timeout: str | None = None,
        deadline_s: float | None = None,
    ) -> t.WaitResult:
        """Wait until an agent needs you or is done, or is in a state.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        any: Wait for any agent.
        all: Wait for all agents that run now.
        state: The state to wait for, or several with commas between. One of: error, waiting_approval, waiting_input,
            running, completed, idle, unknown; repeatable. Without it, until the agent needs you, is done or is gone.
        timeout: How long to wait at most, such as 30s or 10m; without it, for ever.
        """
        answer: t.WaitResult = self._client.last(
            "/v1/wait", {"ref": ref, "any": any, "all": all, "state": state, "timeout": timeout}, deadline_s
        )
        return answer

    def bar(
        self,
        *,
        target: str | None = None,
        format: Literal["plain", "tmux", "swiftbar"] | None = None,
        deadline_s: float | None = None,
    ) -> t.StatusBar:
        """Print the fleet on one line, for a status bar.

        target: Only this target.
        format: For whom.
        """
        answer: t.StatusBar = self._client.call(
            "GET", "/v1/bar", {"target": target, "format": format}, False, None, deadline_s
        )
        return answer

    def origin(self, pid: int, *, deadline_s: float | None = None) -> t.Origin:
        """Tell which agent has started a process.

        pid: The process.
        """
        answer: t.Origin = self._client.call("GET", "/v1/origin", {"pid": pid}, False, None, deadline_s)
        return answer

    def replay(
        self,
        *,
        at: str | None = None,
        check: bool | None = None,
        since: str | None = None,
        target: str | None = None,
        all_targets: bool | None = None,
        target_session: str | None = None,
        session: str | None = None,
        socket: str | None = None,
        cwd: str | None = None,
        state: Sequence[str] | None = None,
        agent_type: Sequence[str] | None = None,
        needs_action: bool | None = None,
        sort: Literal["needs", "age", "where", "agent", "folder"] | None = None,
        wide: bool | None = None,
        deadline_s: float | None = None,
    ) -> t.PastAgentList | t.ReplayCheck:
        """Show the fleet as it was at a time, or check that its states follow from the recorded signals.

        at: When: a time such as 2026-01-31T14:05:00Z, or how long ago: 10m.
        check: Derive all states from the signals again, and compare.
        since: Check only what happened since then: a time, or how long ago.
        target: Only this target.
        all_targets: All targets, as without this flag.
        target_session: Only this session of this target: <target>/<session>.
        session: Only sessions of this name.
        socket: Only this tmux server: its name as for tmux -L, or the path of its socket.
        cwd: Only agents that work in this folder or below.
        state: Only agents in this state, or in several with commas between. One of: error, waiting_approval,
            waiting_input, running, completed, idle, unknown; repeatable.
        agent_type: Only this kind of agent, such as claude; repeatable.
        needs_action: Only agents that wait for a person or have failed.
        sort: The order: agents that need you first, by age, by place, by kind of agent or by folder.
        wide: On a terminal, show every column: version, pane, whole folder and confidence too.
        """
        answer: t.PastAgentList | t.ReplayCheck = self._client.call(
            "GET",
            "/v1/replay",
            {
                "at": at,
                "check": check,
                "since": since,
                "target": target,
                "all_targets": all_targets,
                "target_session": target_session,
                "session": session,
                "socket": socket,
                "cwd": cwd,
                "state": state,
                "agent_type": agent_type,
                "needs_action": needs_action,
                "sort": sort,
                "wide": wide,
            },
            False,
            None,
            deadline_s,
        )
        return answer

    def send(
        self,
        ref: str,
        *,
        text: str | None = None,
        file: str | None = None,
        as_command: bool | None = None,
        check_only: bool | None = None,
        when_ready: bool | None = None,
        wait: bool | None = None,
        timeout: str | None = None,
        if_runtime: str | None = None,
        if_state: Sequence[str] | None = None,
        if_updated_within: str | None = None,
        force_stale: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.SendResult:
        """Send a message to one agent, or refuse.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        text: The message; several lines are one message.
        file: On the command line: take the message from this file; - is standard input.
        as_command: Send it although the agent will run it as a command.
        check_only: Check everything and type nothing, as --dry-run does.
        when_ready: Let it wait instead of refusing it, if the reason may pass.
        wait: On the command line: wait for the answer and print it.
        timeout: How long it may wait, such as 10m; 1h without it.
        if_runtime: Only if it is this agent and no later one: runtime:<id> or <id>.
        if_state: Only if it is in this state, or in one of several; repeatable.
        if_updated_within: Only if its state was confirmed within this time, such as 10s.
        force_stale: Act although its state is another one, or old. Never on another agent.
        """
        answer: t.SendResult = self._client.call(
            "POST",
            "/v1/send",
            {
                "ref": ref,
                "text": text,
                "file": file,
                "as_command": as_command,
                "check_only": check_only,
                "when_ready": when_ready,
                "wait": wait,
                "timeout": timeout,
                "if_runtime": if_runtime,
                "if_state": if_state,
                "if_updated_within": if_updated_within,
                "force_stale": force_stale,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def view(
        self, ref: str, *, lines: int | None = None, turn: bool | None = None, deadline_s: float | None = None
    ) -> t.AgentScreen:
        """Show the screen of one agent, or its last turns.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        lines: Only the last lines.
        turn: Show the last prompts and replies from its transcript instead.
        """
        answer: t.AgentScreen = self._client.call(
            "GET", "/v1/view", {"ref": ref, "lines": lines, "turn": turn}, False, None, deadline_s
        )
        return answer

    def interrupt(
        self,
        ref: str,
        *,
        if_runtime: str | None = None,
        if_state: Sequence[str] | None = None,
        if_updated_within: str | None = None,
        force_stale: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Interruption:
        """Stop the turn of one agent, as a person at its terminal would.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        if_runtime: Only if it is this agent and no later one: runtime:<id> or <id>.
        if_state: Only if it is in this state, or in one of several; repeatable.
        if_updated_within: Only if its state was confirmed within this time, such as 10s.
        force_stale: Act although its state is another one, or old. Never on another agent.
        """
        answer: t.Interruption = self._client.call(
            "POST",
            "/v1/interrupt",
            {
                "ref": ref,
                "if_runtime": if_runtime,
                "if_state": if_state,
                "if_updated_within": if_updated_within,
                "force_stale": force_stale,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def kill(
        self,
        ref: str,
        *,
        signal: Literal["INT", "TERM", "KILL"] | None = None,
        if_runtime: str | None = None,
        if_state: Sequence[str] | None = None,
        if_updated_within: str | None = None,
        force_stale: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Killed:
        """Send a signal to one agent.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        signal: Which signal.
        if_runtime: Only if it is this agent and no later one: runtime:<id> or <id>.
        if_state: Only if it is in this state, or in one of several; repeatable.
        if_updated_within: Only if its state was confirmed within this time, such as 10s.
        force_stale: Act although its state is another one, or old. Never on another agent.
        """
        answer: t.Killed = self._client.call(
            "POST",
            "/v1/kill",
            {
                "ref": ref,
                "signal": signal,
                "if_runtime": if_runtime,
                "if_state": if_state,
                "if_updated_within": if_updated_within,
                "force_stale": force_stale,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def approvals(
        self,
        *,
        all: bool | None = None,
        limit: int | None = None,
        here: bool | None = None,
        deadline_s: float | None = None,
    ) -> t.ApprovalList:
        """List what agents ask you and Covey can answer, the oldest first.

        all: Closed ones too, the latest first.
        limit: How many.
        here: Only agents of this machine: no other host is asked.
        """
        answer: t.ApprovalList = self._client.call(
            "GET", "/v1/approvals", {"all": all, "limit": limit, "here": here}, False, None, deadline_s
        )
        return answer

    def approve(
        self,
        ref: str,
        *,
        always: bool | None = None,
        if_runtime: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Approval:
        """Let one agent do what it asks for.

        ref: The agent that asks: %14, api, api:2.1 or runtime:<id>; or the id of the approval, of which the end is
            enough.
        always: Also accept the rule that the agent suggests, so that it does not ask again; Claude Code only.
        if_runtime: Only if this agent asks and no later one: runtime:<id> or <id>.
        """
        answer: t.Approval = self._client.call(
            "POST",
            "/v1/approve",
            {"ref": ref, "always": always, "if_runtime": if_runtime},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def deny(
        self,
        ref: str,
        *,
        message: str | None = None,
        if_runtime: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Approval:
        """Refuse what one agent asks for. Its turn goes on.

        ref: The agent that asks: %14, api, api:2.1 or runtime:<id>; or the id of the approval, of which the end is
            enough.
        message: What the model is told.
        if_runtime: Only if this agent asks and no later one: runtime:<id> or <id>.
        """
        answer: t.Approval = self._client.call(
            "POST",
            "/v1/deny",
            {"ref": ref, "message": message, "if_runtime": if_runtime},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def answer(
        self,
        ref: str,
        *,
        option: Sequence[str] | None = None,
        text: str | None = None,
        if_runtime: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Approval:
        """Answer the question of one agent.

        ref: The agent that asks: %14, api, api:2.1 or runtime:<id>; or the id of the approval, of which the end is
            enough.
        option: An answer that is offered; repeatable.
        text: An answer in your own words.
        if_runtime: Only if this agent asks and no later one: runtime:<id> or <id>.
        """
        answer: t.Approval = self._client.call(
            "POST",
            "/v1/answer",
            {"ref": ref, "option": option, "text": text, "if_runtime": if_runtime},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def away(
        self, *, for_: str | None = None, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.Presence:
        """Say that you are away from your terminals: what agents ask waits for `covey approve`.

        for_: For how long, such as 2h; without it, until `covey here`.
        """
        answer: t.Presence = self._client.call("POST", "/v1/away", {"for": for_}, True, idempotency_key, deadline_s)
        return answer

    def here(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Presence:
        """Say that you are back: agents show their dialogs again."""
        answer: t.Presence = self._client.call("POST", "/v1/here", {}, True, idempotency_key, deadline_s)
        return answer

    def beat(
        self,
        path: str | None = None,
        *,
        name: str | None = None,
        verbose: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.RequestedBeatRun:
        """Run a heartbeat now, and show what it found.

        path: The workspace; this folder if left out.
        name: Which beat, if the workspace has several.
        verbose: Show each tool call while it runs and the conversation afterwards, and keep that in the log.
        """
        answer: t.RequestedBeatRun = self._client.call(
            "POST", "/v1/beats/run", {"path": path, "name": name, "verbose": verbose}, True, idempotency_key, deadline_s
        )
        return answer

    def attach(
        self,
        ref: str,
        *,
        if_runtime: str | None = None,
        client: str | None = None,
        tmux: str | None = None,
        terminal: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Attachment:
        """Go to the pane of one agent.

        ref: Which agent: %14, api, api:2.1, host@work/api (in tmux -L work), pane:<target>/<session>/<window>/<pane>
            or runtime:<id>.
        if_runtime: Only if it is this agent and no later one: runtime:<id> or <id>.
        client: The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one
            that you are in.
        tmux: The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
        terminal: The terminal that can attach, such as /dev/pts/3; the command line fills it in.
        """
        answer: t.Attachment = self._client.call(
            "POST",
            "/v1/attach",
            {"ref": ref, "if_runtime": if_runtime, "client": client, "tmux": tmux, "terminal": terminal},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def next(
        self,
        *,
        client: str | None = None,
        tmux: str | None = None,
        terminal: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Next:
        """Go to the agent that needs you most; again: to the one after it.

        client: The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one
            that you are in.
        tmux: The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
        terminal: The terminal that can attach, such as /dev/pts/3; the command line fills it in.
        """
        answer: t.Next = self._client.call(
            "POST",
            "/v1/next",
            {"client": client, "tmux": tmux, "terminal": terminal},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def back(
        self,
        *,
        client: str | None = None,
        tmux: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.Back:
        """Return to where you were before `covey next` or `covey attach`.

        client: The tmux client that goes there, by its name (#{client_name}), for key bindings; without it, the one
            that you are in.
        tmux: The values of TMUX and TMUX_PANE where you are, with a comma between; the command line fills it in.
        """
        answer: t.Back = self._client.call(
            "POST", "/v1/back", {"client": client, "tmux": tmux}, True, idempotency_key, deadline_s
        )
        return answer


class MeshVectorCalls:
    """The calls under `vector`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def store(
        self,
        collection: str,
        text: str,
        *,
        metadata: dict[str, Any] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshVectorStored:
        """Store a text in a collection.

        collection: The name of the collection, such as docs.
        text: The text; on the command line - is standard input.
        metadata: A JSON object, such as {"lang": "go"}.
        """
        answer: t.MeshVectorStored = self._client.call(
            "POST",
            "/v1/vector/store",
            {"collection": collection, "text": text, "metadata": metadata},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def search(
        self,
        collection: str,
        q: str,
        *,
        filter: dict[str, Any] | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshVectorHits:
        """Search a collection by meaning.

        collection: The name of the collection, such as docs.
        q: What you look for, in words or as a question.
        filter: A JSON object: fields of the metadata with the value, or a list of values, that they must have:
            {"lang": "go", "kind": ["doc", "code"]}.
        limit: At most so many.
        """
        answer: t.MeshVectorHits = self._client.call(
            "GET",
            "/v1/vector/search",
            {"collection": collection, "q": q, "filter": filter, "limit": limit},
            False,
            None,
            deadline_s,
        )
        return answer

    def delete(
        self, collection: str, id: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshVectorDeleted:
        """Delete a text of a collection for everybody.

        collection: The name of the collection, such as docs.
        id: The id of the text.
        """
        answer: t.MeshVectorDeleted = self._client.call(
            "POST", "/v1/vector/delete", {"collection": collection, "id": id}, True, idempotency_key, deadline_s
        )
        return answer

    def collections(self, *, deadline_s: float | None = None) -> t.MeshCollections:
        """List the collections."""
        answer: t.MeshCollections = self._client.call("GET", "/v1/vector/collections", {}, False, None, deadline_s)
        return answer

    def reembed(
        self, *, collection: str | None = None, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshReembedding:
        """Give every text a vector of the configured model.

        collection: Only the texts of this collection.
        """
        answer: t.MeshReembedding = self._client.call(
            "POST", "/v1/vector/reembed", {"collection": collection}, True, idempotency_key, deadline_s
        )
        return answer


class MeshTopicCalls:
    """The calls under `topic`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def post(
        self,
        topic: str,
        message: str,
        *,
        priority: Literal["now", "next", "low"] | None = None,
        mentions: Sequence[str] | None = None,
        meta: dict[str, Any] | None = None,
        reply_to_id: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSendAnswer:
        """Post a message to a topic.

        topic: The name of the topic.
        message: The text; on the command line - is standard input.
        priority: now: at once, next: when the recipient is free, low: when somebody looks.
        mentions: Name or key of a member that is mentioned; repeatable.
        meta: A JSON object for programs at the other end.
        reply_to_id: The id of the message that this one answers.
        """
        answer: t.MeshSendAnswer = self._client.call(
            "POST",
            "/v1/topic/post",
            {
                "topic": topic,
                "message": message,
                "priority": priority,
                "mentions": mentions,
                "meta": meta,
                "reply_to_id": reply_to_id,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def subscribe(
        self, topic: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshTopic:
        """Subscribe to a topic: its messages come into the inbox from now on.

        topic: The name of the topic.
        """
        answer: t.MeshTopic = self._client.call(
            "POST", "/v1/topic/subscribe", {"topic": topic}, True, idempotency_key, deadline_s
        )
        return answer

    def unsubscribe(
        self, topic: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshTopic:
        """Do not receive the messages of a topic any more. Those in the inbox stay.

        topic: The name of the topic.
        """
        answer: t.MeshTopic = self._client.call(
            "POST", "/v1/topic/unsubscribe", {"topic": topic}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, *, deadline_s: float | None = None) -> t.MeshTopics:
        """List the topics that this peer subscribes to or has posted to."""
        answer: t.MeshTopics = self._client.call("GET", "/v1/topic/list", {}, False, None, deadline_s)
        return answer


class MeshTaskCalls:
    """The calls under `task`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def create(
        self,
        title: str,
        *,
        description: str | None = None,
        assignee: str | None = None,
        priority: Literal["now", "next", "low"] | None = None,
        tags: Sequence[str] | None = None,
        depends_on: Sequence[str] | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Create a task that a member of the mesh or its agent can claim.

        title: What is to be done, on one line.
        description: What one has to know to do it.
        assignee: Only for @name, @name/agent or @group; without it, for anybody.
        priority: now: before all others, next: as they come, low: when there is nothing else.
        tags: A word to find it by; repeatable.
        depends_on: The id of a task that has to be completed before; repeatable.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST",
            "/v1/task/create",
            {
                "title": title,
                "description": description,
                "assignee": assignee,
                "priority": priority,
                "tags": tags,
                "depends_on": depends_on,
                "as_agent": as_agent,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def take(
        self,
        *,
        tags: Sequence[str] | None = None,
        ttl: str | None = None,
        wait: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTaskTaken:
        """Claim the best open task: by priority, then the oldest one.

        tags: Only with this tag; repeatable, all have to match.
        ttl: How long it is yours unless it is renewed, such as 10m, at most 7d.
        wait: Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTaskTaken = self._client.call(
            "POST",
            "/v1/task/take",
            {"tags": tags, "ttl": ttl, "wait": wait, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def claim(
        self,
        id: str,
        *,
        ttl: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Claim a task: of several who do so, exactly one gets it.

        id: The id of the task.
        ttl: How long it is yours unless it is renewed, such as 10m, at most 7d.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST", "/v1/task/claim", {"id": id, "ttl": ttl, "as_agent": as_agent}, True, idempotency_key, deadline_s
        )
        return answer

    def renew(
        self,
        id: str,
        *,
        ttl: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Keep a claimed task for longer.

        id: The id of the task.
        ttl: How long it is yours unless it is renewed, such as 10m, at most 7d.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST", "/v1/task/renew", {"id": id, "ttl": ttl, "as_agent": as_agent}, True, idempotency_key, deadline_s
        )
        return answer

    def complete(
        self,
        id: str,
        result: Any | None = None,
        *,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Say that a task is done, with its result.

        id: The id of the task.
        result: What came of it: any JSON value, text on the command line.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST",
            "/v1/task/complete",
            {"id": id, "result": result, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def fail(
        self,
        id: str,
        reason: str | None = None,
        *,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Give a task up: it cannot be done, or is not wanted any more.

        id: The id of the task.
        reason: Why.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST",
            "/v1/task/fail",
            {"id": id, "reason": reason, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def release(
        self,
        id: str,
        *,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Make a task open again: give back its claim, or have a failed one tried again.

        id: The id of the task.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST", "/v1/task/release", {"id": id, "as_agent": as_agent}, True, idempotency_key, deadline_s
        )
        return answer

    def assign(
        self,
        id: str,
        assignee: str | None = None,
        *,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTask:
        """Assign a task to somebody else, or to anybody.

        id: The id of the task.
        assignee: @name, @name/agent or @group; without it, anybody may claim it.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshTask = self._client.call(
            "POST",
            "/v1/task/assign",
            {"id": id, "assignee": assignee, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def show(self, id: str, *, deadline_s: float | None = None) -> t.MeshTask:
        """Show a task.

        id: The id of the task.
        """
        answer: t.MeshTask = self._client.call("GET", "/v1/task/show", {"id": id}, False, None, deadline_s)
        return answer

    def list(
        self,
        *,
        status: Sequence[Literal["open", "claimed", "completed", "failed"]] | None = None,
        mine: bool | None = None,
        tags: Sequence[str] | None = None,
        after: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshTasks:
        """List tasks: those that are to be done, or those with a status.

        status: Only with this status; repeatable.
        mine: Only those that this member has claimed.
        tags: Only with this tag; repeatable, all have to match.
        after: Tasks after this one: the `next` of the answer before.
        limit: At most so many.
        """
        answer: t.MeshTasks = self._client.call(
            "GET",
            "/v1/task/list",
            {"status": status, "mine": mine, "tags": tags, "after": after, "limit": limit},
            False,
            None,
            deadline_s,
        )
        return answer


class MeshStateCalls:
    """The calls under `state`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def set(
        self,
        key: str,
        value: Any,
        *,
        scope: Literal["mesh", "member"] | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshStateEntry:
        """Set a value of the state that all members share.

        key: The key, such as deploy/web/version.
        value: The value; - is standard input.
        scope: mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
        expect: Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict.
        """
        answer: t.MeshStateEntry = self._client.call(
            "POST",
            "/v1/state/set",
            {"key": key, "value": NULL if value is None else value, "scope": scope, "expect": expect},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def get(
        self, key: str, *, scope: Literal["mesh", "member"] | None = None, deadline_s: float | None = None
    ) -> t.MeshStateEntry:
        """Return a value of the shared state.

        key: The key, such as deploy/web/version.
        scope: mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
        """
        answer: t.MeshStateEntry = self._client.call(
            "GET", "/v1/state/get", {"key": key, "scope": scope}, False, None, deadline_s
        )
        return answer

    def list(
        self,
        prefix: str | None = None,
        *,
        scope: Literal["mesh", "member"] | None = None,
        after: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshState:
        """List the values of the shared state, by key.

        prefix: Keys that begin so.
        scope: Of the mesh, of this member, or both without it.
        after: Keys after this one: the `next` of the answer before.
        limit: At most so many.
        """
        answer: t.MeshState = self._client.call(
            "GET",
            "/v1/state/list",
            {"prefix": prefix, "scope": scope, "after": after, "limit": limit},
            False,
            None,
            deadline_s,
        )
        return answer

    def delete(
        self,
        key: str,
        *,
        scope: Literal["mesh", "member"] | None = None,
        expect: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshStateDeleted:
        """Delete a value of the shared state.

        key: The key, such as deploy/web/version.
        scope: mesh: all members share it; member: it is sealed for this member alone, on all its hosts.
        expect: Only if the value still has this revision; 0: only if there is none. Otherwise it is a conflict.
        """
        answer: t.MeshStateDeleted = self._client.call(
            "POST",
            "/v1/state/delete",
            {"key": key, "scope": scope, "expect": expect},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class MeshSkillCalls:
    """The calls under `skill`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def deploy(
        self,
        path: str,
        *,
        name: str | None = None,
        skill_version: str | None = None,
        description: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSkillDeployed:
        """Share the skill in a folder with all members.

        path: The folder with the SKILL.md.
        name: Another name than its SKILL.md says.
        skill_version: Another version; without any, it is the hash of its files.
        description: Another description.
        """
        answer: t.MeshSkillDeployed = self._client.call(
            "POST",
            "/v1/skill/deploy",
            {"path": path, "name": name, "skill_version": skill_version, "description": description},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def share(
        self,
        name: str,
        manifest: dict[str, Any],
        *,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSkill:
        """Share the manifest of a skill by itself: what there is, to be asked for.

        name: The name of the skill.
        manifest: The manifest, a JSON object.
        """
        answer: t.MeshSkill = self._client.call(
            "POST", "/v1/skill/share", {"name": name, "manifest": manifest}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, *, deadline_s: float | None = None) -> t.MeshSkills:
        """List the skills that members share, and those that are installed from here."""
        answer: t.MeshSkills = self._client.call("GET", "/v1/skill/list", {}, False, None, deadline_s)
        return answer

    def show(self, skill: str, *, part: str | None = None, deadline_s: float | None = None) -> t.MeshSkillShown:
        """Show a skill: its author, its files, and what is in one of them.

        skill: Its name, or @author/name if several have one of that name.
        part: The file to show.
        """
        answer: t.MeshSkillShown = self._client.call(
            "GET", "/v1/skill/show", {"skill": skill, "part": part}, False, None, deadline_s
        )
        return answer

    def install(
        self,
        skill: str,
        *,
        agent: Literal["claude", "codex", "gemini", "opencode"] | None = None,
        project: str | None = None,
        user: bool | None = None,
        folder: str | None = None,
        expect: str | None = None,
        check_only: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSkillPlan:
        """Install a skill for an agent, after showing who has signed it and what is written where.

        skill: Its name, or @author/name if several have one of that name.
        agent: For which agent.
        project: The folder of the project; on the command line the current one.
        user: For all projects of this user.
        folder: Another folder of skills than the agent's.
        expect: Only if this is the `plan` that was shown.
        check_only: Show what would be written, and write nothing.
        """
        answer: t.MeshSkillPlan = self._client.call(
            "POST",
            "/v1/skill/install",
            {
                "skill": skill,
                "agent": agent,
                "project": project,
                "user": user,
                "folder": folder,
                "expect": expect,
                "check_only": check_only,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def uninstall(
        self,
        skill: str,
        *,
        path: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSkillUninstalled:
        """Remove an installed skill. Files that were changed since are kept, and named.

        skill: Its name.
        path: Where it is, if it is installed several times.
        """
        answer: t.MeshSkillUninstalled = self._client.call(
            "POST", "/v1/skill/uninstall", {"skill": skill, "path": path}, True, idempotency_key, deadline_s
        )
        return answer

    def remove(
        self, skill: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshSkillRemoved:
        """Take a skill of one's own back. Where it is installed it stays.

        skill: Its name, or @author/name if several have one of that name.
        """
        answer: t.MeshSkillRemoved = self._client.call(
            "POST", "/v1/skill/remove", {"skill": skill}, True, idempotency_key, deadline_s
        )
        return answer


class MeshServicesCalls:
    """The calls under `services`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.MeshServices:
        """Show what each service keeps, and whether the replica here is complete."""
        answer: t.MeshServices = self._client.call("GET", "/v1/services", {}, False, None, deadline_s)
        return answer

    def export(
        self,
        path: str,
        *,
        service: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshExport:
        """Write what the members share to a file, a JSON object in each line.

        path: File to write; it must not exist yet.
        service: Only this service, such as memory; repeatable.
        """
        answer: t.MeshExport = self._client.call(
            "POST", "/v1/services/export", {"path": path, "service": service}, True, idempotency_key, deadline_s
        )
        return answer

    def import_(
        self,
        path: str,
        *,
        service: Sequence[str] | None = None,
        replace: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshImport:
        """Share what such a file holds, as this member.

        path: File that was exported.
        service: Only this service, such as memory; repeatable.
        replace: Replace what is there with another value.
        """
        answer: t.MeshImport = self._client.call(
            "POST",
            "/v1/services/import",
            {"path": path, "service": service, "replace": replace},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class MeshReminderCalls:
    """The calls under `reminder`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, limit: int | None = None, deadline_s: float | None = None) -> t.MeshReminders:
        """List reminders, the next one first.

        limit: At most so many.
        """
        answer: t.MeshReminders = self._client.call(
            "GET", "/v1/scheduling/reminders", {"limit": limit}, False, None, deadline_s
        )
        return answer

    def cancel(self, id: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.MeshReminder:
        """Cancel a reminder of yours.

        id: The id of the reminder.
        """
        answer: t.MeshReminder = self._client.call(
            "POST", "/v1/scheduling/cancel", {"id": id}, True, idempotency_key, deadline_s
        )
        return answer


class MeshOutboxCalls:
    """The calls under `outbox`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(
        self,
        *,
        status: Literal["pending", "inflight", "done", "dead", "dropped"] | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshOutbox:
        """List the messages that were sent from here, and those that were given up.

        status: Only those in this state; without it, pending, inflight and dead ones.
        limit: At most so many.
        """
        answer: t.MeshOutbox = self._client.call(
            "GET", "/v1/outbox", {"status": status, "limit": limit}, False, None, deadline_s
        )
        return answer

    def requeue(
        self,
        id: Sequence[str] | None = None,
        *,
        all: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshRequeued:
        """Try to send messages that were given up once more.

        id: The id of a message; repeatable.
        all: All messages that are dead.
        """
        answer: t.MeshRequeued = self._client.call(
            "POST", "/v1/outbox/requeue", {"id": id, "all": all}, True, idempotency_key, deadline_s
        )
        return answer

    def drop(
        self,
        id: Sequence[str] | None = None,
        *,
        all: bool | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshDropped:
        """Drop messages that were not sent. The recipient's peer is told that they will not come.

        id: The id of a message; repeatable.
        all: All messages that are dead.
        """
        answer: t.MeshDropped = self._client.call(
            "POST", "/v1/outbox/drop", {"id": id, "all": all}, True, idempotency_key, deadline_s
        )
        return answer


class MeshMemoryCalls:
    """The calls under `memory`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def remember(
        self,
        content: str,
        *,
        tags: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshMemoryRemembered:
        """Remember a text for all members.

        content: The text; on the command line - is standard input.
        tags: A tag, such as deploy; repeatable.
        """
        answer: t.MeshMemoryRemembered = self._client.call(
            "POST", "/v1/memory/remember", {"content": content, "tags": tags}, True, idempotency_key, deadline_s
        )
        return answer

    def recall(
        self, q: str, *, tags: Sequence[str] | None = None, limit: int | None = None, deadline_s: float | None = None
    ) -> t.MeshRecall:
        """Find what was remembered, by its words and its meaning.

        q: What you look for, in words or as a question.
        tags: Only those with this tag; repeatable: with all of them.
        limit: At most so many.
        """
        answer: t.MeshRecall = self._client.call(
            "GET", "/v1/memory/recall", {"q": q, "tags": tags, "limit": limit}, False, None, deadline_s
        )
        return answer

    def list(
        self,
        *,
        tags: Sequence[str] | None = None,
        after: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshMemories:
        """List what was remembered, the newest first.

        tags: Only those with this tag; repeatable: with all of them.
        after: Those after this one: the `next` of the answer before.
        limit: At most so many.
        """
        answer: t.MeshMemories = self._client.call(
            "GET", "/v1/memory/list", {"tags": tags, "after": after, "limit": limit}, False, None, deadline_s
        )
        return answer

    def forget(
        self, id: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshMemoryForgotten:
        """Delete a memory for everybody.

        id: The id of the memory.
        """
        answer: t.MeshMemoryForgotten = self._client.call(
            "POST", "/v1/memory/forget", {"id": id}, True, idempotency_key, deadline_s
        )
        return answer

    def reembed(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.MeshReembedding:
        """Give every memory a vector of the configured model."""
        answer: t.MeshReembedding = self._client.call(
            "POST", "/v1/memory/reembed", {}, True, idempotency_key, deadline_s
        )
        return answer


class MeshMcpCalls:
    """The calls under `mcp`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def register(
        self,
        server_name: str,
        transport: dict[str, Any],
        *,
        description: str | None = None,
        tools: Sequence[str] | None = None,
        members: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshMcpServer:
        """Offer tools of an MCP server of one's own to the members of the mesh.

        server_name: The name of the server, such as weather.
        description: What it is for.
        tools: A tool that may be called; repeatable. * is every tool it has now.
        transport: How it is reached: {"type": "stdio", "command": […], "env": {}, "cwd": …} or {"type": "http",
            "url": …, "headers": {}}.
        members: A member that may call it, such as @bob; repeatable. All without it.
        """
        answer: t.MeshMcpServer = self._client.call(
            "POST",
            "/v1/mcp/register",
            {
                "server_name": server_name,
                "description": description,
                "tools": tools,
                "transport": transport,
                "members": members,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def unregister(
        self, server_name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshMcpUnregistered:
        """Take an MCP server of one's own back: nobody can call it any more.

        server_name: The name of the server.
        """
        answer: t.MeshMcpUnregistered = self._client.call(
            "POST", "/v1/mcp/unregister", {"server_name": server_name}, True, idempotency_key, deadline_s
        )
        return answer

    def list(self, server: str | None = None, *, deadline_s: float | None = None) -> t.MeshMcpServers:
        """List the tools that members offer; with a server, its tools with their schemas.

        server: Only this one, with the schemas of its tools.
        """
        answer: t.MeshMcpServers = self._client.call("GET", "/v1/mcp/list", {"server": server}, False, None, deadline_s)
        return answer

    def call(
        self,
        server: str,
        tool: str,
        *,
        args: dict[str, Any] | None = None,
        timeout_s: float | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshMcpAnswer:
        """Call a tool that a member offers, and return its answer.

        server: Its name, or @owner/name if several members have one of that name.
        tool: The name of the tool.
        args: Its arguments, a JSON object.
        timeout_s: How long it may take, in seconds.
        """
        answer: t.MeshMcpAnswer = self._client.call(
            "POST",
            "/v1/mcp/call",
            {"server": server, "tool": tool, "args": args, "timeout_s": timeout_s},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer


class MeshLeaseCalls:
    """The calls under `lease`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def acquire(
        self,
        name: str | None = None,
        *,
        path: str | None = None,
        ttl: str | None = None,
        note: str | None = None,
        wait: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshLease:
        """Acquire a lease on a name or a file: of several who do so, exactly one gets it.

        name: A name of your choice, such as deploy/web.
        path: A file instead of a name. In a git repository it is named by the repository and the path in it, so that
            other hosts mean the same.
        ttl: How long it is yours unless it is renewed, such as 10m, at most 7d.
        note: What you do, for others to see.
        wait: Wait so long for one, such as 5m. One call waits at most 25 s; the command line goes on asking.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshLease = self._client.call(
            "POST",
            "/v1/lease/acquire",
            {"name": name, "path": path, "ttl": ttl, "note": note, "wait": wait, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def renew(
        self,
        name: str | None = None,
        *,
        path: str | None = None,
        ttl: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshLease:
        """Keep a lease for longer.

        name: A name of your choice, such as deploy/web.
        path: A file instead of a name. In a git repository it is named by the repository and the path in it, so that
            other hosts mean the same.
        ttl: How long it is yours unless it is renewed, such as 10m, at most 7d.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshLease = self._client.call(
            "POST",
            "/v1/lease/renew",
            {"name": name, "path": path, "ttl": ttl, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def release(
        self,
        name: str | None = None,
        *,
        path: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshLease:
        """Give a lease back.

        name: A name of your choice, such as deploy/web.
        path: A file instead of a name. In a git repository it is named by the repository and the path in it, so that
            other hosts mean the same.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshLease = self._client.call(
            "POST",
            "/v1/lease/release",
            {"name": name, "path": path, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def list(
        self,
        prefix: str | None = None,
        *,
        after: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshLeases:
        """List the leases that somebody has now, by name.

        prefix: Names that begin so.
        after: Names after this one: the `next` of the answer before.
        limit: At most so many.
        """
        answer: t.MeshLeases = self._client.call(
            "GET", "/v1/lease/list", {"prefix": prefix, "after": after, "limit": limit}, False, None, deadline_s
        )
        return answer


class MeshKeysCalls:
    """The calls under `keys`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def rotate(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.MeshKeyRotated:
        """Make a new key with which messages to this member are sealed. Messages under way can still be read."""
        answer: t.MeshKeyRotated = self._client.call("POST", "/v1/keys/rotate", {}, True, idempotency_key, deadline_s)
        return answer


class MeshGroupsCalls:
    """The calls under `groups`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def join(
        self, name: str, *, role: str | None = None, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshGroups:
        """Join a group: messages to @group come here too.

        name: The name of the group.
        role: The role in the group, such as lead.
        """
        answer: t.MeshGroups = self._client.call(
            "POST", "/v1/groups/join", {"name": name, "role": role}, True, idempotency_key, deadline_s
        )
        return answer

    def leave(self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.MeshGroups:
        """Leave a group.

        name: The name of the group.
        """
        answer: t.MeshGroups = self._client.call(
            "POST", "/v1/groups/leave", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer


class MeshGraphCalls:
    """The calls under `graph`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def query(
        self,
        cypher: str,
        *,
        params: dict[str, Any] | None = None,
        limit: int | None = None,
        timeout_s: float | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshGraphResult:
        """Read or write the graph that all members share, in Cypher.

        cypher: The statement, such as MATCH (n:Task) RETURN n; - is standard input.
        params: A JSON object with the values of $name.
        limit: At most so many rows.
        timeout_s: How long a statement may take to read, or to be tried out, in seconds.
        """
        answer: t.MeshGraphResult = self._client.call(
            "POST",
            "/v1/graph/query",
            {"cypher": cypher, "params": params, "limit": limit, "timeout_s": timeout_s},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def status(self, *, deadline_s: float | None = None) -> t.MeshGraphStatus:
        """Show how large the graph is, how far this peer has applied its log, and what was not applied."""
        answer: t.MeshGraphStatus = self._client.call("GET", "/v1/graph/status", {}, False, None, deadline_s)
        return answer


class MeshFileCalls:
    """The calls under `file`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def share(
        self,
        path: str,
        *,
        to: Sequence[str] | None = None,
        message: str | None = None,
        persistent: bool | None = None,
        wait_s: float | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshFileTransfer:
        """Share a file with the members of the mesh, or with some of them.

        path: The file.
        to: @name, member key or @group; repeatable. All members without it.
        message: A text for those who get it.
        persistent: Keep it until it is deleted.
        wait_s: Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
        """
        answer: t.MeshFileTransfer = self._client.call(
            "POST",
            "/v1/file/share",
            {"path": path, "to": to, "message": message, "persistent": persistent, "wait_s": wait_s},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def get(
        self,
        id: str,
        *,
        out: str | None = None,
        force: bool | None = None,
        wait_s: float | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshFileTransfer:
        """Fetch a file that was shared.

        id: The id of the file.
        out: Where to write it: a file, or a folder in which it has its own name.
        force: Replace a file that is there.
        wait_s: Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
        """
        answer: t.MeshFileTransfer = self._client.call(
            "GET",
            "/v1/file/get",
            {"id": id, "out": out, "force": force, "wait_s": wait_s},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def list(
        self, *, limit: int | None = None, before: float | None = None, deadline_s: float | None = None
    ) -> t.MeshFiles:
        """List the files that are shared with you, the newest first.

        limit: At most so many.
        before: Older ones: the `next` of the answer before.
        """
        answer: t.MeshFiles = self._client.call(
            "GET", "/v1/file/list", {"limit": limit, "before": before}, False, None, deadline_s
        )
        return answer

    def delete(
        self, id: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshFileDeleted:
        """Delete a file that you have shared, for everybody.

        id: The id of the file.
        """
        answer: t.MeshFileDeleted = self._client.call(
            "POST", "/v1/file/delete", {"id": id}, True, idempotency_key, deadline_s
        )
        return answer

    def status(
        self, transfer: str | None = None, *, wait_s: float | None = None, deadline_s: float | None = None
    ) -> t.MeshFileTransfers:
        """Show how far files are that are shared from here or fetched to here.

        transfer: The id of one transfer; all without it.
        wait_s: Answer when it is done, or after so many seconds (at most 25) with how far it is; it goes on.
        """
        answer: t.MeshFileTransfers = self._client.call(
            "GET", "/v1/file/status", {"transfer": transfer, "wait_s": wait_s}, False, None, deadline_s
        )
        return answer


class MeshConfigCalls:
    """The calls under `config`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(self, *, deadline_s: float | None = None) -> t.SettingList:
        """List every setting, its value and where it comes from."""
        answer: t.SettingList = self._client.call("GET", "/v1/config", {}, False, None, deadline_s)
        return answer

    def get(self, key: str, *, deadline_s: float | None = None) -> t.Setting:
        """Show one setting.

        key: Name of a setting, such as log.level.
        """
        answer: t.Setting = self._client.call("GET", "/v1/config/{key}", {"key": key}, False, None, deadline_s)
        return answer

    def set(
        self, key: str, value: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.ChangedSetting:
        """Change one setting in config.toml, keeping its comments.

        key: Name of a setting, such as log.level.
        value: The new value, as TOML or as plain text.
        """
        answer: t.ChangedSetting = self._client.call(
            "PUT", "/v1/config/{key}", {"key": key, "value": value}, True, idempotency_key, deadline_s
        )
        return answer

    def unset(
        self, key: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.ChangedSetting:
        """Remove a setting from config.toml, so that its default applies.

        key: Name of a setting, such as log.level.
        """
        answer: t.ChangedSetting = self._client.call(
            "DELETE", "/v1/config/{key}", {"key": key}, True, idempotency_key, deadline_s
        )
        return answer


class MeshAuditCalls:
    """The calls under `audit`."""

    def __init__(self, client: Blocking) -> None:
        self._client = client

    def list(
        self,
        *,
        since: str | None = None,
        operation: Sequence[str] | None = None,
        limit: int | None = None,
        before: int | None = None,
        deadline_s: float | None = None,
    ) -> t.AuditTrail:
        """Show who did what: each call that changed something, or was refused.

        since: Only what happened since then: 1h ago, or 2026-01-31T14:05:00Z.
        operation: Only calls of this operation, such as send; repeatable.
        limit: Only the last N.
        before: Only entries before this cursor: `earlier` of the answer before.
        """
        answer: t.AuditTrail = self._client.call(
            "GET",
            "/v1/audit",
            {"since": since, "operation": operation, "limit": limit, "before": before},
            False,
            None,
            deadline_s,
        )
        return answer


class MeshCalls:
    """The calls of the daemon `Mesh` stands for."""

    def __init__(self, client: Blocking) -> None:
        self._client = client
        self.audit = MeshAuditCalls(client)
        self.config = MeshConfigCalls(client)
        self.file = MeshFileCalls(client)
        self.graph = MeshGraphCalls(client)
        self.groups = MeshGroupsCalls(client)
        self.keys = MeshKeysCalls(client)
        self.lease = MeshLeaseCalls(client)
        self.mcp = MeshMcpCalls(client)
        self.memory = MeshMemoryCalls(client)
        self.outbox = MeshOutboxCalls(client)
        self.reminder = MeshReminderCalls(client)
        self.services = MeshServicesCalls(client)
        self.skill = MeshSkillCalls(client)
        self.state = MeshStateCalls(client)
        self.task = MeshTaskCalls(client)
        self.topic = MeshTopicCalls(client)
        self.vector = MeshVectorCalls(client)

    def down(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.StoppedDaemon:
        """Stop the daemon."""
        answer: t.StoppedDaemon = self._client.call("POST", "/v1/down", {}, True, idempotency_key, deadline_s)
        return answer

    def status(self, *, deadline_s: float | None = None) -> t.MeshStatus:
        """Show the status of the daemon."""
        answer: t.MeshStatus = self._client.call("GET", "/v1/status", {}, False, None, deadline_s)
        return answer

    def health(self, *, deadline_s: float | None = None) -> t.MeshHealthCheck:
        """Check whether the daemon answers."""
        answer: t.MeshHealthCheck = self._client.call("GET", "/v1/health", {}, False, None, deadline_s)
        return answer

    def reload(self, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.ReloadedConfig:
        """Read the configuration again."""
        answer: t.ReloadedConfig = self._client.call("POST", "/v1/reload", {}, True, idempotency_key, deadline_s)
        return answer

    def metrics(self, *, deadline_s: float | None = None) -> str:
        """Print the metrics for Prometheus."""
        answer: str = self._client.call("GET", "/v1/metrics", {}, False, None, deadline_s)
        return answer

    def openapi(self, *, deadline_s: float | None = None) -> dict[str, Any]:
        """Print the OpenAPI document of the local API."""
        answer: dict[str, Any] = self._client.call("GET", "/v1/openapi.json", {}, False, None, deadline_s)
        return answer

    def doctor(self, *, deadline_s: float | None = None) -> t.Diagnosis:
        """Find what is missing or wrong, and the command that fixes it."""
        answer: t.Diagnosis = self._client.call("GET", "/v1/doctor", {}, False, None, deadline_s)
        return answer

    def backup(self, path: str, *, idempotency_key: str | None = None, deadline_s: float | None = None) -> t.Backup:
        """Copy the daemon's database to a new file, while it runs.

        path: File to write; it must not exist yet.
        """
        answer: t.Backup = self._client.call("POST", "/v1/backup", {"path": path}, True, idempotency_key, deadline_s)
        return answer

    def send(
        self,
        to: str,
        message: str,
        *,
        priority: Literal["now", "next", "low"] | None = None,
        meta: dict[str, Any] | None = None,
        reply_to_id: str | None = None,
        wait: Literal["none", "broker", "inbox", "seen"] | None = None,
        timeout_s: float | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSendAnswer:
        """Send a message to a member of the mesh, a group, or an agent on a member's host.

        to: @name, member key, @group or @host/agent.
        message: The text; on the command line - is standard input.
        priority: now: at once, next: when the recipient is free, low: when somebody looks.
        meta: A JSON object for programs at the other end.
        reply_to_id: The id of the message that this one answers.
        wait: Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is
            in our outbox.
        timeout_s: How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on
            asking.
        """
        answer: t.MeshSendAnswer = self._client.call(
            "POST",
            "/v1/send",
            {
                "to": to,
                "message": message,
                "priority": priority,
                "meta": meta,
                "reply_to_id": reply_to_id,
                "wait": wait,
                "timeout_s": timeout_s,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def send_batch(
        self, messages: Sequence[dict[str, Any]], *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshBatchAnswer:
        """Send many messages with one call.

        messages: The messages.
        """
        answer: t.MeshBatchAnswer = self._client.call(
            "POST", "/v1/send/batch", {"messages": messages}, True, idempotency_key, deadline_s
        )
        return answer

    def broadcast(
        self,
        message: str,
        *,
        scope: str | None = None,
        priority: Literal["now", "next", "low"] | None = None,
        mentions: Sequence[str] | None = None,
        meta: dict[str, Any] | None = None,
        reply_to_id: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshSendAnswer:
        """Send a message to everybody, or to everybody in a group.

        message: The text; on the command line - is standard input.
        scope: * for everybody, or @group.
        priority: now: at once, next: when the recipient is free, low: when somebody looks.
        mentions: Name or key of a member that is mentioned; repeatable.
        meta: A JSON object for programs at the other end.
        reply_to_id: The id of the message that this one answers.
        """
        answer: t.MeshSendAnswer = self._client.call(
            "POST",
            "/v1/broadcast",
            {
                "message": message,
                "scope": scope,
                "priority": priority,
                "mentions": mentions,
                "meta": meta,
                "reply_to_id": reply_to_id,
            },
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def inbox(
        self,
        *,
        since: str | None = None,
        topic: str | None = None,
        from_: str | None = None,
        limit: int | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshInbox:
        """Show the messages that have come.

        since: Only after this cursor, or after this time: 10m, or 2026-01-31T14:05:00Z.
        topic: Only messages of this topic.
        from_: Only messages of this member, also a removed one: name or member key.
        limit: At most so many.
        """
        answer: t.MeshInbox = self._client.call(
            "GET", "/v1/inbox", {"since": since, "topic": topic, "from": from_, "limit": limit}, False, None, deadline_s
        )
        return answer

    def search(self, q: str, *, limit: int | None = None, deadline_s: float | None = None) -> t.MeshFound:
        """Search the messages in the inbox.

        q: What to search for.
        limit: At most so many.
        """
        answer: t.MeshFound = self._client.call("GET", "/v1/search", {"q": q, "limit": limit}, False, None, deadline_s)
        return answer

    def receipt(
        self,
        id: str,
        *,
        wait: Literal["none", "broker", "inbox", "seen"] | None = None,
        timeout_s: float | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshReceipt:
        """Show what is proven about a message that was sent from here.

        id: The id of the message.
        wait: Answer when the broker has stored it, it is in the recipient's inbox, or it was seen; none: when it is
            in our outbox.
        timeout_s: How long to wait for that, in seconds. The daemon waits at most 25 s, the command line goes on
            asking.
        """
        answer: t.MeshReceipt = self._client.call(
            "GET", "/v1/receipt/{id}", {"id": id, "wait": wait, "timeout_s": timeout_s}, False, None, deadline_s
        )
        return answer

    def peers(self, *, deadline_s: float | None = None) -> t.MeshPeers:
        """List the peers and which of them are online."""
        answer: t.MeshPeers = self._client.call("GET", "/v1/peers", {}, False, None, deadline_s)
        return answer

    def members(self, *, revoked: bool | None = None, deadline_s: float | None = None) -> t.MeshMembers:
        """List the members of the mesh, and with --revoked those that were removed.

        revoked: Also those that were removed or have left.
        """
        answer: t.MeshMembers = self._client.call("GET", "/v1/members", {"revoked": revoked}, False, None, deadline_s)
        return answer

    def profile(
        self,
        *,
        summary: str | None = None,
        status: Literal["idle", "working", "dnd"] | None = None,
        visible: bool | None = None,
        avatar: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshProfile:
        """Show or change what this member says of itself.

        summary: What it is there for, in a line.
        status: What this member is doing.
        visible: Let others see that it is online.
        avatar: An emoji or the address of a picture.
        """
        answer: t.MeshProfile = self._client.call(
            "POST",
            "/v1/profile",
            {"summary": summary, "status": status, "visible": visible, "avatar": avatar},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer

    def heartbeat(
        self,
        *,
        status: Literal["idle", "working", "dnd"] | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshHeartbeat:
        """Say that the program at this peer is alive, and what it is doing.

        status: What this member is doing.
        """
        answer: t.MeshHeartbeat = self._client.call(
            "POST", "/v1/heartbeat", {"status": status}, True, idempotency_key, deadline_s
        )
        return answer

    def invite(
        self,
        *,
        role: Literal["member", "reader", "admin"] | None = None,
        expires: str | None = None,
        uses: int | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MadeInvite:
        """Make an invite: a text that somebody pastes into `covey mesh join`.

        role: What whoever joins may do.
        expires: How long it is good for, such as 24h.
        uses: How many may join with it.
        """
        answer: t.MadeInvite = self._client.call(
            "POST", "/v1/invite", {"role": role, "expires": expires, "uses": uses}, True, idempotency_key, deadline_s
        )
        return answer

    def invites(self, *, deadline_s: float | None = None) -> t.MeshInvites:
        """List the invites that were made."""
        answer: t.MeshInvites = self._client.call("GET", "/v1/invites", {}, False, None, deadline_s)
        return answer

    def revoke(
        self, member: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshRevoked:
        """Remove a member, or take back an invite. The member is disconnected at once and topic keys are made anew.

        member: Name or member key of a member, or the id of an invite.
        """
        answer: t.MeshRevoked = self._client.call(
            "POST", "/v1/revoke", {"member": member}, True, idempotency_key, deadline_s
        )
        return answer

    def rename(
        self, name: str, *, idempotency_key: str | None = None, deadline_s: float | None = None
    ) -> t.MeshRenamed:
        """Give this member another name. All others see it.

        name: The new name.
        """
        answer: t.MeshRenamed = self._client.call(
            "POST", "/v1/rename", {"name": name}, True, idempotency_key, deadline_s
        )
        return answer

    def remind(
        self,
        message: str,
        *,
        in_: str | None = None,
        at: str | None = None,
        cron: str | None = None,
        tz: str | None = None,
        to: str | None = None,
        as_agent: str | None = None,
        idempotency_key: str | None = None,
        deadline_s: float | None = None,
    ) -> t.MeshReminder:
        """Have a message come at a time: to you, to another member, a group or everybody.

        message: What it says.
        in_: After so long, such as 90m.
        at: At this time, such as 2026-01-31T14:05:00Z; without a zone in that of tz.
        cron: At the times of this cron expression, such as '0 9 * * 1-5'.
        tz: The time zone of at and cron, such as Europe/Berlin; without it that of the peer's machine.
        to: @name, @name/agent, @group or * for everybody; without it, you.
        as_agent: The name of the agent that asks. Without it, it is the agent in which the caller runs, if the node
            sees it.
        """
        answer: t.MeshReminder = self._client.call(
            "POST",
            "/v1/scheduling/remind",
            {"message": message, "in": in_, "at": at, "cron": cron, "tz": tz, "to": to, "as_agent": as_agent},
            True,
            idempotency_key,
            deadline_s,
        )
        return answer
