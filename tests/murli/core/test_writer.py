"""Where a command puts its answer."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from murli._core.errors import AgentError, conflict, not_found, tool_error, user_error
from murli._core.metadata import Metadata
from murli._core.writer import SHORTEST_SECRET, Writer, wants_colour, writer
from tests.murli.core.conftest import Sketch, Terminal, golden, new_stream, run, written

RICH: dict[str, Any] = {
    "name": "Zaunkönig 🐦",
    "html": "<a href=\"x\">&amp;</a> & 'more'",
    "path": "C:\\nest\n",
    "none": None,
    "yes": True,
    "weight": 0.25,
    "empty_list": [],
    "empty_object": {},
    "nested": [{"eggs": [1, 2]}, []],
}
BIRDS = [{"id": "pip"}, {"id": "quill"}, {"id": "soot"}]
FULL = AgentError(
    "too many sightings",
    code=8,
    error="rate_limited",
    suggestion='Wait, then try "again".',
    recoverable=True,
    valid_values=["crow", "<owl>"],
    retry_after_ms=1500,
    doc_url="https://roost.example/limits?a=1&b=2",
    field="species",
)
MINIMAL = tool_error('the nest <oak> & "elm" größer')


class Desk:
    """A writer on two streams in memory."""

    def __init__(self, encoding: str = "utf-8", **settings: Any) -> None:
        self.stdout, self.stderr = new_stream(encoding), new_stream(encoding)
        self.writer = Writer(self.stdout, self.stderr, **settings)

    @property
    def out(self) -> bytes:
        return written(self.stdout)

    @property
    def err(self) -> bytes:
        return written(self.stderr)


def agent(**settings: Any) -> Desk:
    return Desk(agent=True, **settings)


def ndjson(**settings: Any) -> Desk:
    return Desk(agent=True, output="ndjson", **settings)


def person(**settings: Any) -> Desk:
    return Desk(output="text", **settings)


def refuse(_: object) -> str:
    raise AssertionError("a text for people was made although nobody reads it")


@pytest.mark.parametrize(
    ("desk", "answer", "name"),
    [
        (agent(), lambda out: out.success("text", RICH), "success.json"),
        (agent(), lambda out: out.success("text"), "success_null.json"),
        (agent(tool_version="1.2.3"), lambda out: out.success("text", []), "success_versioned.json"),
        (agent(tool_version="1.2.3", limit=2), lambda out: out.success("text", BIRDS), "success_limited.json"),
        (ndjson(), lambda out: out.success("text", RICH), "success.ndjson"),
        (ndjson(tool_version="1.2.3", limit=2), lambda out: out.success("text", BIRDS), "success_limited.ndjson"),
        (agent(), lambda out: out.plan("text", {"would_delete": "quill"}), "plan.json"),
        (
            ndjson(tool_version="1.2.3"),
            lambda out: out.plan("text", {"would_delete": "quill"}),
            "plan_versioned.ndjson",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_answer_is_the_envelope_of_the_contract(desk: Desk, answer: Callable[[Writer], None], name: str) -> None:
    answer(desk.writer)
    assert (desk.out, desk.err) == (golden(name), b"")


@pytest.mark.parametrize(
    ("desk", "error", "name"),
    [
        (agent(), MINIMAL, "error.json"),
        (ndjson(), MINIMAL, "error.ndjson"),
        (agent(tool_version="1.2.3"), FULL, "error_full.json"),
        (ndjson(tool_version="1.2.3"), FULL, "error_full.ndjson"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_error_is_the_envelope_of_the_contract(desk: Desk, error: AgentError, name: str) -> None:
    assert desk.writer.error(error) == error.code == desk.writer.exit_code
    assert (desk.out, desk.err) == (b"", golden(name))


def test_the_refusal_of_the_guard_is_the_one_of_the_contract() -> None:
    assert run(Sketch(metadata=Metadata(mutating=True)), lambda _: None).stderr == golden("confirmation_required.json")


def test_progress_is_a_bare_object_on_standard_error() -> None:
    desk = agent()
    desk.writer.progress('saw <Pip> & "Quill"', stage="zählen", current=3, total=4, percent=75.0, eta_ms=1200)
    assert (desk.out, desk.err) == (b"", golden("progress.ndjson"))


def test_progress_leaves_out_what_is_not_known() -> None:
    desk = ndjson()
    desk.writer.progress("three so far", current=3)
    assert desk.err == golden("progress_partial.ndjson")


def test_a_stream_is_one_line_an_event_and_a_minified_envelope() -> None:
    desk = agent(tool_version="1.2.3")
    desk.writer.event({"step": 1, "bird": "Zaunkönig <🐦>"})
    desk.writer.event({"step": 2, "bird": None})
    desk.writer.success("text", {"seen": 2})
    assert desk.out == golden("stream.ndjson")


def test_an_event_is_written_at_once() -> None:
    desk = agent()
    desk.writer.event([1])
    assert desk.out == b"[1]\n"


def test_people_read_the_sentence_and_no_json() -> None:
    desk = person(tool_version="1.2.3")
    desk.writer.event({"step": 1})
    desk.writer.success("Saw 2 birds", {"seen": 2})
    assert (desk.out, desk.err) == (b"Saw 2 birds\n", b"")


def test_a_plan_for_people_is_its_sentence() -> None:
    desk = person()
    desk.writer.plan("Would delete Quill", {"would_delete": "quill"})
    assert desk.out == b"Would delete Quill\n"


def test_an_empty_sentence_prints_nothing() -> None:
    desk = person()
    desk.writer.success("", {"seen": 2})
    assert desk.out == b""
    assert desk.writer.answered


def test_a_text_function_gets_the_result_when_a_person_reads() -> None:
    desk = person()
    desk.writer.success(lambda birds: ", ".join(bird["id"] for bird in birds), BIRDS)
    assert desk.out == b"pip, quill, soot\n"


def test_a_text_function_gets_the_limited_result() -> None:
    desk = person(limit=2)
    desk.writer.success(lambda birds: ", ".join(bird["id"] for bird in birds), BIRDS)
    assert desk.out == b"pip, quill\n"


@pytest.mark.parametrize("output", ["json", "ndjson"])
def test_a_text_function_is_never_called_when_a_program_reads(output: str) -> None:
    desk = agent(output=output)
    desk.writer.success(refuse, BIRDS)
    assert json.loads(desk.out)["result"] == BIRDS


def test_a_person_who_asks_for_some_fields_sees_them_whatever_the_text_function_expects() -> None:
    desk = person(fields=["id"])
    desk.writer.success(
        lambda bird: f"{bird['name']} the {bird['species']}", {"id": "pip", "name": "Pip", "species": "wren"}
    )
    assert b"pip" in desk.out
    assert b"wren" not in desk.out


@pytest.mark.parametrize(
    ("settings", "form", "is_tty"),
    [
        ({}, "text", True),
        ({"agent": True}, "json", False),
        ({"agent": True, "output": "text"}, "text", True),
        ({"output": "json"}, "json", False),
        ({"output": "ndjson"}, "ndjson", False),
    ],
)
def test_the_audience_chooses_the_form_unless_it_is_given(settings: dict[str, Any], form: str, is_tty: bool) -> None:  # noqa: FBT001
    desk = Desk(**settings)
    assert (desk.writer.output, desk.writer.is_tty) == (form, is_tty)
    assert desk.writer.agent is settings.get("agent", False)


@pytest.mark.parametrize(
    "first", [lambda out: out.success("a"), lambda out: out.plan("a"), lambda out: out.error(conflict("a"))]
)
@pytest.mark.parametrize("second", [lambda out: out.success("b"), lambda out: out.plan("b")])
@pytest.mark.parametrize("make", [agent, ndjson, person])
def test_a_second_answer_is_refused_and_writes_nothing(
    make: Callable[[], Desk], first: Callable[[Writer], None], second: Callable[[Writer], None]
) -> None:
    desk = make()
    first(desk.writer)
    before = desk.out
    with pytest.raises(RuntimeError, match="answered already"):
        second(desk.writer)
    assert desk.out == before


def test_an_event_after_the_closing_envelope_is_refused_and_writes_nothing() -> None:
    desk = agent()
    desk.writer.success("done", {"seen": 2})
    before = desk.out
    with pytest.raises(RuntimeError, match="answered already"):
        desk.writer.event({"step": 3})
    assert desk.out == before


def test_a_result_without_a_json_form_is_an_error_and_nothing_is_written() -> None:
    desk = agent()
    with pytest.raises(AgentError) as caught:
        desk.writer.success("done", {"x": object()})
    assert caught.value.error == "marshal_error"
    assert desk.out == b""
    assert not desk.writer.answered
    desk.writer.error(caught.value)
    assert json.loads(desk.err)["error"] == "marshal_error"


def test_an_event_without_a_json_form_is_an_error_and_nothing_is_written() -> None:
    desk = agent()
    with pytest.raises(AgentError, match="cannot be written as JSON"):
        desk.writer.event({"x": float("nan")})
    assert desk.out == b""


def test_a_mask_and_a_limit_are_applied_to_what_the_reader_would_see() -> None:
    desk = agent(fields=["id"], limit=1)
    desk.writer.success("text", [{"id": Path("a"), "x": {1}}, {"id": Path("b"), "x": {2}}])
    assert json.loads(desk.out) == {"result": [{"id": "a"}], "schema_version": "1.0", "status": "ok", "total": 2}


def test_a_wrong_mask_is_an_error_for_a_command_that_reads() -> None:
    desk = agent(fields=["nope"])
    with pytest.raises(AgentError, match="no field 'nope'"):
        desk.writer.success("text", {"id": 1})
    assert desk.out == b""


def test_a_wrong_mask_never_hides_the_answer_of_a_command_that_changed_something() -> None:
    desk = agent(fields=["nope"], limit=1, read_only=False)
    desk.writer.success("text", {"id": 1})
    assert json.loads(desk.out)["result"] == {}


def test_people_read_an_error_as_lines_with_a_cross() -> None:
    desk = person()
    assert desk.writer.error(FULL) == 8
    assert desk.err.decode() == (
        '✗ too many sightings\n  Wait, then try "again".\n  Valid: crow, <owl>\n  See https://roost.example/limits?a=1&b=2\n'
    )
    assert desk.out == b""


def test_an_error_without_advice_is_one_line() -> None:
    desk = person()
    desk.writer.error(not_found("no bird 'x'"))
    assert desk.err.decode() == "✗ no bird 'x'\n"


@pytest.mark.parametrize("values", [[1, 2], [None], [b"x"]])
def test_people_read_an_error_whatever_its_valid_values_are_made_of(values: Any) -> None:
    desk = person()
    assert desk.writer.error(AgentError("m", valid_values=values)) == 2
    assert b"Valid: " in desk.err


def test_a_log_line_is_written_before_what_follows_it() -> None:
    desk = agent()
    desk.writer.log("one")
    desk.writer.log("one")
    desk.writer.progress("half")
    desk.writer.log("two")
    desk.writer.error(conflict("taken"))
    kinds = [line for line in desk.err.decode().splitlines() if line.startswith("{") and len(line) > 1]
    assert [json.loads(line).get("msg", json.loads(line).get("message")) for line in kinds] == ["one", "half", "two"]
    assert json.loads(kinds[0])["repeated"] == 1
    assert desk.err.decode().index('"two"') < desk.err.decode().index('"taken"')


def test_an_answer_flushes_the_log_entry_that_is_held_back() -> None:
    desk = agent()
    desk.writer.log("held")
    assert desk.err == b""
    desk.writer.success("done")
    assert json.loads(desk.err)["msg"] == "held"


def test_people_read_log_lines_as_they_are() -> None:
    desk = person()
    desk.writer.log("a remark", "warn")
    assert desk.err == b"a remark\n"


def test_a_document_is_bare_and_follows_the_form() -> None:
    indented, minified = agent(), ndjson()
    indented.writer.document({"name": "größe", "commands": []})
    minified.writer.document({"name": "größe", "commands": []})
    assert indented.out.decode() == '{\n  "name": "größe",\n  "commands": []\n}\n'
    assert minified.out.decode() == '{"name":"größe","commands":[]}\n'


def test_a_page_of_text_is_written_for_every_audience() -> None:
    for desk in (agent(), person()):
        desk.writer.raw("# Seite ü\n")
        assert desk.out.decode() == "# Seite ü\n"
        assert desk.writer.answered


def test_text_that_is_printed_by_other_means_comes_first() -> None:
    desk = person()
    desk.stdout.write("printed first\n")
    desk.writer.success("then the answer")
    assert desk.out == b"printed first\nthen the answer\n"


# Events from several threads


@pytest.mark.parametrize("size", [10, 20_000])
def test_events_from_eight_threads_never_interleave(size: int) -> None:
    reading, writing = os.pipe()
    received: list[bytes] = []

    def collect() -> None:
        with open(reading, "rb") as pipe:  # noqa: PTH123 - a descriptor
            received.extend(pipe)

    reader = threading.Thread(target=collect)
    reader.start()
    start = threading.Barrier(8)
    with io.TextIOWrapper(io.BufferedWriter(io.FileIO(writing, "w")), encoding="utf-8") as stdout:
        out = Writer(stdout, new_stream(), agent=True)

        def work(name: int) -> None:
            start.wait()
            for number in range(20):
                out.event({"thread": name, "number": number, "load": str(name) * size})

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        out.success("done", "ü")
    reader.join()
    events = [json.loads(line) for line in received]
    assert events.pop() == {"result": "ü", "schema_version": "1.0", "status": "ok"}
    assert all(event["load"] == str(event["thread"]) * size for event in events)
    for name in range(8):
        assert [event["number"] for event in events if event["thread"] == name] == list(range(20))


def test_progress_from_threads_never_interleaves_with_logs() -> None:
    desk = agent()
    start = threading.Barrier(4)

    def work(name: int) -> None:
        start.wait()
        for number in range(50):
            desk.writer.progress(f"{name}-{number}", current=number + 1)
            desk.writer.log(f"log {name}-{number}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    desk.writer.flush()
    lines = [json.loads(line) for line in desk.err.splitlines()]
    assert sum("current" in line for line in lines) == 200
    assert {line["msg"] for line in lines if "msg" in line} == {
        f"log {name}-{number}" for name in range(4) for number in range(50)
    }


# Secrets

SECRET = "s3cr3t-feather"


@pytest.mark.parametrize("make", [agent, ndjson, person])
def test_a_secret_is_cut_out_of_errors_logs_and_progress(make: Callable[..., Desk]) -> None:
    desk = make(secrets=[SECRET])
    desk.writer.log(f"token {SECRET}")
    desk.writer.progress(f"using {SECRET}", stage=SECRET)
    desk.writer.error(user_error(f"bad token {SECRET!r}", f"Not {SECRET} again."))
    assert SECRET.encode() not in desk.err
    assert b"***" in desk.err


@pytest.mark.parametrize("make", [agent, ndjson, person])
@pytest.mark.parametrize("field", ["valid_values", "doc_url"])
def test_a_secret_is_cut_out_of_every_field_of_an_error(make: Callable[..., Desk], field: str) -> None:
    desk = make(secrets=[SECRET])
    fields: dict[str, Any] = {field: [SECRET] if field == "valid_values" else f"x{SECRET}"}
    desk.writer.error(AgentError("m", **fields))
    assert SECRET.encode() not in desk.err


def test_the_longer_of_two_secrets_leaves_no_rest() -> None:
    desk = agent(secrets=["abcd", "abcd-efgh"])
    assert desk.writer.scrub("key abcd-efgh, old key abcd") == "key ***, old key ***"


@pytest.mark.parametrize("secret", ["it's\\me", "line\nbreak", "quo\"te's", "caf\xe9\x07"])
def test_a_secret_is_cut_out_of_a_message_that_quotes_it(secret: str) -> None:
    desk = agent(secrets=[secret])
    assert repr(secret)[1:-1] not in desk.writer.scrub(f"cannot use {secret!r}")


def test_a_secret_that_is_too_short_to_hide_anything_garbles_nothing() -> None:
    desk = agent(secrets=["", "a", "x" * (SHORTEST_SECRET - 1)])
    assert desk.writer.scrub("a banana xxx") == "a banana xxx"


def test_a_result_may_hold_what_was_asked_for() -> None:
    desk = agent(secrets=[SECRET])
    desk.writer.success("done", {"echo": SECRET})
    assert json.loads(desk.out)["result"] == {"echo": SECRET}


# Terminals


def test_an_error_is_red_on_a_terminal(terminal: Terminal) -> None:
    Writer(new_stream(), terminal.stream).error(conflict("taken"))
    assert terminal.seen() == "\x1b[31m✗\x1b[0m taken\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_an_error_is_plain_on_a_terminal_where_colour_is_declined(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    Writer(new_stream(), terminal.stream).error(conflict("taken"))
    assert terminal.seen() == "✗ taken\n"


def test_an_empty_no_color_declines_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")
    assert wants_colour(terminal.stream)


def test_an_error_on_a_terminal_breaks_between_words_and_never_inside_of_backquotes(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    told = user_error("x " * 60, f"Run `{'covey ' * 12}end` or `{'y ' * 20}z`.", valid_values=["a-b"] * 30)
    Writer(new_stream(), terminal.stream).error(told)
    lines = terminal.seen().splitlines()
    assert all(len(line) < 80 for line in lines if "`" not in line)
    assert any(f"`{'covey ' * 12}end`" in line for line in lines)
    assert any(f"`{'y ' * 20}z`." in line for line in lines)


def test_a_suggestion_that_may_be_a_command_to_copy_is_left_on_one_line(terminal: Terminal) -> None:
    Writer(new_stream(), terminal.stream).error(user_error("no", f"Mend it: chmod 600 {'long/' * 20}file name"))
    assert f"  Mend it: chmod 600 {'long/' * 20}file name" in terminal.seen()


def test_an_error_that_goes_elsewhere_than_to_a_terminal_is_not_wrapped() -> None:
    desk = person()
    desk.writer.error(user_error("x " * 60 + "end"))
    assert desk.err.decode() == f"✗ {'x ' * 60}end\n"


def test_there_is_no_colour_off_a_terminal() -> None:
    desk = person()
    desk.writer.error(conflict("taken"))
    assert not wants_colour(desk.stderr)
    assert b"\x1b" not in desk.err


def test_progress_overwrites_one_line_of_a_terminal_and_is_wiped_before_the_answer(terminal: Terminal) -> None:
    out = Writer(terminal.stream, terminal.stream)
    out.progress("saw Pip", stage="watching", current=1, total=2, percent=50.0, eta_ms=1000)
    out.progress("saw Quill", stage="watching", current=2, total=2, percent=100.0)
    out.success("Saw 2 birds")
    assert (
        terminal.seen()
        == "\r\x1b[Kwatching 1/2 50% saw Pip 1s left\r\x1b[Kwatching 2/2 100% saw Quill\r\x1b[KSaw 2 birds\n"
    )


def test_progress_that_would_wrap_is_cut_for_a_wrapped_line_cannot_be_overwritten(terminal: Terminal) -> None:
    Writer(terminal.stream, terminal.stream).progress("x" * 500)
    assert 0 < terminal.seen().count("x") < 500


def test_a_log_line_does_not_share_its_line_with_progress(terminal: Terminal) -> None:
    out = Writer(terminal.stream, terminal.stream)
    out.progress("half way")
    out.log("a remark")
    assert terminal.seen() == "\r\x1b[Khalf way\r\x1b[Ka remark\n"


def test_progress_for_people_is_not_written_into_a_file() -> None:
    desk = person()
    desk.writer.progress("half way", current=1)
    assert (desk.out, desk.err) == (b"", b"")


def test_progress_about_a_file_name_that_is_not_utf8_does_not_stop_the_command(terminal: Terminal) -> None:
    Writer(new_stream(), terminal.stream).progress("reading caf\udce9")
    assert terminal.seen().endswith("reading caf\\udce9")


# Streams of every kind


def test_a_stream_without_a_buffer_gets_text() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    out = Writer(stdout, stderr, agent=True)
    out.event("größe 🐦")
    out.success("text", "caf\udce9")
    out.log("größe")
    out.flush()
    assert stdout.getvalue() == '"größe 🐦"\n{"result":"caf\\udce9","schema_version":"1.0","status":"ok"}\n'
    assert json.loads(stderr.getvalue())["msg"] == "größe"


def test_people_with_a_narrow_encoding_read_what_it_can_spell() -> None:
    desk = person(encoding="latin-1")
    desk.writer.success("größe 🐦")
    assert desk.out == "größe ".encode("latin-1") + b"?\n"


def test_people_with_a_narrow_encoding_read_errors_in_it_too() -> None:
    desk = person(encoding="latin-1")
    desk.writer.error(user_error("größe"))
    assert "größe".encode("latin-1") in desk.err


def test_json_is_utf8_whatever_the_encoding_of_the_stream() -> None:
    desk = agent(encoding="latin-1")
    desk.writer.success("text", "größe")
    desk.writer.error(user_error("größe"))
    assert json.loads(desk.out.decode("utf-8"))["result"] == "größe"
    assert json.loads(desk.err.decode("utf-8"))["message"] == "größe"


def full() -> tuple[io.FileIO, io.TextIOWrapper[io.BufferedWriter]]:
    """A file on a disk that is full."""
    raw = io.FileIO("/dev/full", "w")
    return raw, io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")


@pytest.mark.parametrize(
    "answer",
    [
        lambda out: out.success("text", 1),
        lambda out: out.event(1),
        lambda out: out.document({}),
        lambda out: out.raw("page"),
    ],
)
def test_an_answer_that_cannot_be_written_is_an_output_error(answer: Callable[[Writer], None]) -> None:
    raw, stdout = full()
    with pytest.raises(AgentError, match="No space left") as caught:
        answer(Writer(stdout, new_stream(), agent=True))
    assert (caught.value.code, caught.value.error) == (2, "output_error")
    raw.close()
    stdout.close()


def test_an_answer_to_a_closed_stream_is_an_output_error() -> None:
    stdout = new_stream()
    stdout.close()
    with pytest.raises(AgentError) as caught:
        Writer(stdout, new_stream(), agent=True).success("text", 1)
    assert caught.value.error == "output_error"


def test_an_answer_to_a_reader_that_has_gone_is_a_broken_pipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    raw = io.FileIO(writing, "w")
    stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    with pytest.raises(BrokenPipeError):
        Writer(stdout, new_stream(), agent=True).success("text", 1)
    raw.close()
    stdout.close()


def test_an_error_that_cannot_be_written_still_gives_its_code() -> None:
    raw, stderr = full()
    out = Writer(new_stream(), stderr, agent=True)
    assert out.error(not_found("gone")) == 5
    raw.close()
    stderr.close()


def test_an_answer_that_an_unbuffered_stream_takes_only_in_part_is_an_output_error() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)  # as when the pipe is shared with a program that made it so
    with io.FileIO(writing, "w") as raw:
        stdout = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)  # as `python -u` makes it
        with pytest.raises(AgentError) as caught:
            Writer(stdout, new_stream(), agent=True).event("x" * 1_000_000)
        assert caught.value.error == "output_error"
        stdout.detach()
    os.close(reading)


@pytest.mark.parametrize("output", ["json", "ndjson", "text"])
@pytest.mark.parametrize(
    "call",
    [
        lambda out: out.log("one") or out.log("two"),
        lambda out: out.progress("half way"),
        lambda out: out.error(not_found("gone")),
    ],
)
def test_a_standard_error_that_was_closed_from_the_start_is_done_without(
    output: str, call: Callable[[Writer], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    out = Writer(new_stream(), None, output=output)
    assert call(out) in (None, 5)


def test_a_log_on_a_full_disk_does_not_stop_the_command() -> None:
    raw, stderr = full()
    stdout = new_stream()
    out = Writer(stdout, stderr, agent=True)
    try:
        out.log("one")
        out.log("two")
        out.success("text", 1)
    finally:
        raw.close()
        stderr.close()
    assert json.loads(written(stdout))["result"] == 1


def test_the_writer_writes_to_the_standard_streams_of_the_moment(capsys: pytest.CaptureFixture[str]) -> None:
    Writer(agent=True).success("text", 1)
    assert json.loads(capsys.readouterr().out)["result"] == 1


def test_there_is_no_current_writer_outside_a_command() -> None:
    with pytest.raises(RuntimeError, match="only there while a command runs"):
        writer()


def test_the_current_writer_is_the_one_of_the_command_that_runs() -> None:
    inner: list[Writer] = []

    def handler(_: list[str]) -> None:
        outer = writer()
        run(Sketch("inner"), lambda _: inner.append(writer()))
        assert writer() is outer
        assert inner[0] is not outer
        outer.success("done", "outer")

    assert run(Sketch("outer"), handler).answer["result"] == "outer"
