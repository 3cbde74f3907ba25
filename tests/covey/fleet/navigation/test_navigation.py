"""People brought to agents and back: real tmux clients on real terminals."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from covey.tmux.format_text import message
from tests.covey.conftest import COMMAND, Covey
from tests.covey.fleet.far import far
from tests.covey.fleet.living import Fleet, living
from tests.covey.fleet.navigation.person import Person, person
from tests.covey.fleet.room import until


class Desk:
    """A fleet with agents, and people who attach to its tmux server."""

    def __init__(self, fleet: Fleet, stack: ExitStack) -> None:
        self.fleet = fleet
        self.covey = fleet.covey
        self._stack = stack
        self.desk = fleet.tmux(
            "new-session", "-d", "-s", "desk", "-x", "100", "-y", "24", "-P", "-F", "#{pane_id}", "sh"
        )

    def agents(self, count: int) -> list[str]:
        """Start agents and the daemon; return the panes."""
        panes = [self.fleet.agent() for _ in range(count)]
        self.fleet.up()
        for pane in panes:
            self.fleet.row(pane)
        return panes

    def ask(self, pane: str, what: str = "[ask] rm") -> None:
        """Have an agent ask, and wait until it needs somebody."""
        count = len(self.needs())
        self.fleet.show(pane, what)
        until(lambda: len(self.needs()) > count)

    def needs(self) -> list[dict[str, Any]]:
        return self.covey.run("needs").result["items"]  # type: ignore[no-any-return]

    def person(self, *argv: str, **extra: str) -> Person:
        return self._stack.enter_context(person(list(argv), self.covey.environment(**extra)))

    def sitting(self) -> Person:
        """A person whose terminal shows the shell on the desk."""
        someone = self.person("tmux", "-u", "attach-session", "-t", "=desk")
        until(lambda: self.shown(someone) == self.desk)
        return someone

    def shown(self, someone: Person, *server: str) -> str:
        """The pane that a terminal shows; nothing if it is not attached."""
        for line in self.fleet.tmux(*server, "list-clients", "-F", "#{client_tty} #{pane_id}").splitlines():
            tty, pane = line.split()
            if tty == someone.terminal:
                return pane
        return ""

    def inside(self) -> dict[str, str]:
        """The environment that a key binding of tmux has."""
        return {"TMUX": self.fleet.tmux("display-message", "-p", "-t", self.desk, "#{socket_path},#{pid},0")}


@pytest.fixture
def desk(covey: Covey) -> Iterator[Desk]:
    with living(covey) as fleet, ExitStack() as stack:
        yield Desk(fleet, stack)


def test_next_goes_through_the_agents_that_wait_and_back_returns_to_the_beginning(desk: Desk) -> None:
    one, two, idle = desk.agents(3)
    someone = desk.sitting()
    someone.type(f"{COMMAND} next\n")
    someone.sees("No agent needs you")
    desk.ask(two, "[ask] second")
    desk.ask(one, "[ask] first")
    assert [item["data"]["ref"].rpartition("/")[2] for item in desk.needs()] == [two, one], "the longest waiting first"
    someone.type(f"{COMMAND} next\n")
    until(lambda: desk.shown(someone) == two)
    client = {"client": someone.terminal, **desk.inside()}
    going = desk.covey.run("next", "--client", client["client"], TMUX=client["TMUX"]).result
    assert (going["attachment"]["went"], going["attachment"]["pane_id"], desk.shown(someone)) == (True, one, one)
    desk.covey.run("next", "--client", client["client"], TMUX=client["TMUX"])
    assert desk.shown(someone) == two, "after the last comes the first"
    back = desk.covey.run("back", "--client", client["client"], TMUX=client["TMUX"]).result
    assert (desk.shown(someone), back["detached"]) == (desk.desk, False)
    again = desk.covey.run("back", "--client", client["client"], TMUX=client["TMUX"])
    assert (again.code, again.error["error"]) == (7, "no_place")
    desk.covey.run("attach", idle, "--client", client["client"], TMUX=client["TMUX"])
    desk.fleet.tmux("switch-client", "-c", someone.terminal, "-t", one)
    desk.covey.run("attach", two, "--client", client["client"], TMUX=client["TMUX"])
    desk.covey.run("back", "--client", client["client"], TMUX=client["TMUX"])
    assert desk.shown(someone) == one, "a person who went elsewhere returns there"


def test_a_client_is_brought_to_the_first_agent_that_it_can_show(desk: Desk) -> None:
    elsewhere = desk.fleet.tmux(
        *("-L", "other", "new-session", "-d", "-x", "80", "-y", "24", "-P", "-F", "#{socket_path} #{pane_id}"),
        str(desk.covey.folder / "toy-agent"),
    )
    try:
        _, one = desk.agents(2)
        someone = desk.sitting()
        desk.fleet.tmux("-L", "other", "send-keys", "-t", elsewhere.split()[1], "printf '\\n[ask] first'", "Enter")
        until(lambda: len(desk.needs()) == 1)
        desk.ask(one, "[ask] second")
        going = desk.covey.run("next", "--client", someone.terminal).result
        assert (going["attachment"]["went"], desk.shown(someone)) == (True, one)
    finally:
        desk.fleet.tmux("-L", "other", "kill-server")


def test_without_a_terminal_nobody_is_moved_and_the_command_is_told(desk: Desk) -> None:
    (one,) = desk.agents(1)
    someone = desk.sitting()
    desk.ask(one)
    tmux = desk.inside()
    told = desk.covey.run("next", **tmux, TMUX_PANE=desk.desk).result
    assert (told["attachment"]["went"], told["attachment"]["pane_id"]) == (False, one)
    assert told["item"]["command"] == f"covey attach runtime:{told['attachment']['snapshot']['runtime_id']}"
    assert desk.shown(someone) == desk.desk
    outside = desk.person(*desk.covey.run("attach", one).result["command"])
    until(lambda: desk.shown(outside) == one)
    for client in ("/dev/null", outside.terminal):
        refused = desk.covey.run("back", "--client", client, **tmux)
        assert refused.error["error"] == "no_place", "Covey has not brought it there"


def test_from_a_terminal_outside_of_tmux_it_attaches_and_back_detaches(desk: Desk) -> None:
    (one,) = desk.agents(1)
    session = desk.fleet.tmux("display-message", "-p", "-t", one, "#{session_id}:")
    desk.fleet.tmux("rename-session", "-t", session, "é: 漢字 $x 'q' #{pid}")
    desk.fleet.tmux("split-window", "-t", one, "sh")
    desk.fleet.tmux("new-window", "-t", session, "sh")
    someone = desk.person(COMMAND, "attach", one)
    until(lambda: desk.shown(someone) == one)
    back = desk.covey.run("back", "--client", someone.terminal, **desk.inside()).result
    assert back["detached"] is True
    assert someone.ended() == 0
    assert b"detached" in someone.shown


def test_in_another_tmux_it_attaches_inside_and_says_so(desk: Desk) -> None:
    (one,) = desk.agents(1)
    runtime = f"runtime:{desk.fleet.row(one)['runtime_id']}"
    other = ("-L", "other")
    desk.fleet.tmux(*other, "new-session", "-d", "sh")
    someone = desk.person("tmux", "-u", *other, "attach-session")
    until(lambda: desk.shown(someone, *other))
    someone.type(f"{COMMAND} attach {runtime}\n")
    inner = desk.fleet.tmux(*other, "list-panes", "-F", "#{pane_tty}")
    until(lambda: f"{inner} {one}" in desk.fleet.tmux("list-clients", "-F", "#{client_tty} #{pane_id}"))
    assert desk.covey.run("back", "--client", inner, **desk.inside()).result["detached"] is True
    someone.sees("tmux inside your tmux")
    desk.fleet.tmux(*other, "kill-server")


def test_an_agent_that_was_replaced_is_not_attached_to(desk: Desk) -> None:
    one, two = desk.agents(2)
    found = desk.covey.run("attach", one).result
    refused = desk.covey.run("attach", one, "--if-runtime", desk.fleet.row(two)["runtime_id"])
    assert (refused.code, refused.error["error"]) == (7, "runtime_changed")
    assert desk.covey.run("attach", "nobody").error["error"] == "E_REF_NOT_FOUND"
    gone = desk.covey.run("attach", one, "--client", "/dev/pts/nowhere")
    assert (gone.code, gone.error["error"]) == (7, "client_not_found")
    desk.fleet.tmux("respawn-pane", "-k", "-t", one, "sh")
    respawned = desk.person(*found["command"])
    assert respawned.ended() == 7
    assert b"is not in this pane any more" in respawned.shown
    desk.fleet.tmux("kill-pane", "-t", one)
    assert desk.person(*found["command"]).ended() == 7


def test_people_are_alerted_on_their_terminals_and_nothing_in_the_text_is_run(desk: Desk) -> None:
    (one,) = desk.agents(1)
    someone = desk.sitting()
    other = desk.person("tmux", "-u", "attach-session", "-t", one)
    until(lambda: desk.shown(other) == one)
    marker = desk.covey.folder / "marker"
    body = json.dumps({"text": f"asks: #(touch {marker}) #{{pid}} #[fg=red]x %H\x1b]0;t\a"})
    status, _, answer = desk.covey.request("POST", "/v1/tmux/alert", body, {"Content-Type": "application/json"})
    assert (status, answer) == (200, b'{"clients":2,"problems":[]}')
    for who in (someone, other):
        who.sees(f"asks: #(touch {marker}) #{{pid}} # [fg=red]x %H")
    assert not marker.exists()
    before = [who.look().count(b"\a") for who in (someone, other)]
    desk.covey.request("POST", "/v1/tmux/alert", '{"bell": true}', {"Content-Type": "application/json"})
    until(lambda: [who.look().count(b"\a") for who in (someone, other)] == [count + 1 for count in before])
    assert desk.fleet.row(one)["state"] != "error"


def test_a_channel_on_terminals_says_when_there_are_none(desk: Desk) -> None:
    (desk.covey.home / "config.toml").write_text('[[attention.channel]]\nname = "ring"\nkind = "bell"\n')
    desk.agents(1)

    def problem() -> str:
        (tried,) = json.loads(desk.covey.run("attention", "test", "--yes").stdout)["result"]["items"]
        return str(tried["problem"])

    assert problem() == "no terminal is attached to tmux: nobody has seen it"
    desk.sitting()
    assert problem() == ""


def test_a_message_has_no_formats() -> None:
    assert message("a\n#{x} #[b] 100%\x1b") == "a ##{x} ## [b] 100%%"


def test_far_agents_are_attached_to_over_ssh_and_a_machine_without_tmux_is_named(covey: Covey) -> None:
    with far("a") as host, ExitStack() as stack:
        pane = host.agent("work of é")
        config = covey.folder / "ssh_config"
        config.write_text(host.ssh_config)
        covey.home.mkdir()
        (covey.home / "config.toml").write_text(f'[fleet]\nssh_config = "{config}"\n')
        assert covey.run("up").code == 0
        assert covey.run("target", "add", "a", "--kind", "ssh", "--yes").code == 0
        until(lambda: [row for row in covey.run("ps").result["items"] if row["identity"]["target"] == "a"])
        found = covey.run("attach", f"a/{pane}").result
        assert (found["ssh_target"], found["command"][0]) == ("a", "ssh")
        someone = stack.enter_context(person([COMMAND, "attach", f"a/{pane}"], covey.environment()))
        until(lambda: host.room.tmux("list-clients", "-F", "#{pane_id}") == pane)
        host.room.tmux("detach-client", "-s", "=work of é")
        assert someone.ended() == 0
        only_sh = covey.folder / "bin"
        only_sh.mkdir()
        (only_sh / "sh").symlink_to("/bin/sh")
        without = subprocess.run(
            ["/bin/sh", "-c", found["command"][-1]],
            env={"PATH": str(only_sh)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (without.returncode, "there is no tmux on this machine" in without.stderr) == (127, True)
        host.room.tmux("respawn-pane", "-k", "-t", pane, "sh")
        gone = stack.enter_context(person(found["command"], covey.environment()))
        assert gone.ended() == 7
