"""The changes that a slow reader gets."""

from __future__ import annotations

import asyncio

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from covey.tmux.changes import Changes, Liveness, ServerHealth
from covey.tmux.listing import Pane

ALIVE, GONE = ServerHealth(liveness=Liveness.ALIVE), ServerHealth(liveness=Liveness.GONE)
PANE = Pane(
    id="%0", pid=1, tty="", session_id="$0", session_name="s", window_id="@0", window_index=0, window_name="w",
    pane_index=0, dead=False, in_mode=False, alternate=False, width=80, height=24, cursor_x=0, cursor_y=0, activity=0,
    history_bytes=0, attached=0, command="sh", path="/", title="",
)  # fmt: skip


def pane(number: int, title: str = "") -> Pane:
    return msgspec.structs.replace(PANE, id=f"%{number}", title=title)


STEPS = st.lists(
    st.tuples(st.just("server"), st.frozensets(st.integers(0, 5)), st.text(max_size=1))
    | st.tuples(st.just("changed"), st.frozensets(st.integers(0, 5)), st.text(max_size=1))
    | st.tuples(st.just("gone"), st.frozensets(st.integers(0, 5)), st.just(""))
    | st.tuples(st.just("read"), st.just(frozenset[int]()), st.just("")),
    max_size=30,
)


async def read_all(changes: Changes, known: dict[str, Pane]) -> None:
    while changes._pending.is_set():
        change = await changes.next()
        assert change
        if change.kind == "server":
            known.clear()
        known.update((found.id, found) for found in change.panes)
        for gone in change.gone:
            known.pop(gone, None)


@given(STEPS)
def test_a_reader_of_any_speed_ends_with_the_same_panes(steps: list[tuple[str, frozenset[int], str]]) -> None:
    async def main() -> None:
        changes, truth, known = Changes(), dict[str, Pane](), dict[str, Pane]()
        for step, numbers, title in [*steps, ("read", frozenset[int](), "")]:
            found = {f"%{number}": pane(number, title) for number in numbers}
            if step == "server":
                truth = dict(found)
                changes.server(ALIVE, found)
            elif step == "changed":
                truth.update(found)
                changes.changed(ALIVE, found.values(), ())
            elif step == "gone":
                changes.changed(ALIVE, (), found.keys() & truth.keys())
                truth = {pane_id: kept for pane_id, kept in truth.items() if pane_id not in found}
            else:
                await read_all(changes, known)
                assert known == truth

    asyncio.run(main())


async def test_much_that_happens_is_one_change() -> None:
    changes = Changes()
    changes.server(ALIVE, {})
    for number in range(1000):
        changes.changed(ALIVE, [pane(number)], (), [f"%{number}"])
    changes.changed(ALIVE, (), [f"%{number}" for number in range(999)])
    change = await changes.next()
    assert change
    assert change.kind == "server"
    assert [found.id for found in change.panes] == ["%999"]
    assert change.touched == {"%999"}
    assert change.gone == frozenset()
    changes.server(GONE, {})
    changes.close()
    assert await changes.next() is None
