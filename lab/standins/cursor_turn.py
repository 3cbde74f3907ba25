"""A turn of the stand-in for Cursor's CLI: the model, the tools, and what the person has to decide."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import queue
import re
import signal
import socket
import subprocess
import threading
import time
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from lab.standins.cursor_session import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.standins.cursor_session import Session

TOOLS = {
    "shell": ("Shell", "command"),
    "write": ("Write", "path contents"),
    "fetch": ("WebFetch", "url"),
    "task": ("Task", "description prompt"),
}
ASK = {"ask_question": ("AskQuestion", "question options")}
LINES = {"shell": "$ {command}", "write": "Write {path}", "fetch": "Web Fetch: {url}", "task": "Task {description}"}
CODES = {401: "unauthenticated", 403: "permission_denied", 429: "resource_exhausted"}
SUMMARISE = "Write a detailed summary of our conversation so far, to go on from it."
EVERYTHING = "Run Everything"
OK = 200


class Stopped(Exception):  # noqa: N818 - the person has stopped the turn, which is no error
    pass


class Failure(Exception):  # noqa: N818 - as the screen calls it
    """The model's server refused; some refusals are worth another try."""

    def __init__(self, code: str, text: str, *, again: bool = True) -> None:
        super().__init__(f"[{code}] {text}")
        self.again = again


class Card(NamedTuple):
    """Something the person must decide: rows to show, and choices with the keys that take them."""

    head: str
    rows: tuple[str, ...]
    choices: tuple[tuple[str, str], ...]
    """Label and keys, e.g. ("Run (once)", "y"). The last one refuses."""
    question: bool = False
    reason: bool = False
    """Whether refusing asks what to do instead."""
    rules: tuple[str, ...] = ()
    """What `tab` adds to the allowlist."""


class Worker:
    """Does a turn in its own thread: asks the model, runs tools and hooks, and reports to the screen what happens."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.news: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.answers: queue.SimpleQueue[tuple[int, str]] = queue.SimpleQueue()
        self.wake, self._wake = os.pipe()
        self._messages: list[dict[str, Any]] = []
        self._stopped = threading.Event()
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._model = urlsplit(os.environ["CURSOR_STANDIN_MODEL"])
        self._retries = int(os.environ.get("CURSOR_STANDIN_RETRIES", "3"))
        self.everything = False

    def tell(self, kind: str, what: Any = "") -> None:
        self.news.put((kind, what))
        os.write(self._wake, b".")

    def start(self, prompt: str) -> None:
        self._stopped.clear()
        self.answers = queue.SimpleQueue()  # without what an earlier stop may have left in it
        self.session.generation = str(uuid.uuid4())
        self.session.state("running")
        threading.Thread(
            target=self._compress if prompt in {"/compress", "/summarize"} else self._turn, args=(prompt,), daemon=True
        ).start()

    def stop(self) -> None:
        self._stopped.set()
        self.answers.put((-1, ""))
        with contextlib.suppress(OSError):
            if self._process:
                os.killpg(self._process.pid, signal.SIGTERM)
            elif self._socket:
                self._socket.shutdown(socket.SHUT_RDWR)

    def _turn(self, prompt: str) -> None:
        session = self.session
        if session.fire("beforeSubmitPrompt", prompt=prompt, attachments=[]).get("continue") is False:
            self._end("completed", "A hook refused the prompt.")
            return
        session.record("user", {"type": "text", "text": prompt})
        self._messages.append({"role": "user", "content": prompt})
        kept = len(self._messages)
        status, note = self._outcome(lambda: session.fire("afterAgentResponse", text=self._loop(self._messages)))
        if status != "completed":
            del self._messages[kept:]
        if CODES[401] in note:
            self.tell("restore", prompt)
        session.fire("stop", status=status, loop_count=0)
        self._end(status, note)

    def _compress(self, _: str) -> None:
        count = len(self._messages)
        self.session.fire(
            "preCompact", trigger="manual", context_usage_percent=7, message_count=count, messages_to_compact=count
        )
        self.tell("status", "Summarizing")

        def summarise() -> None:
            summary, _ = self._complete([*self._messages, {"role": "user", "content": SUMMARISE}], silent=True)
            self._messages = [{"role": "user", "content": f"Where we stand: {summary}"}]

        status, note = self._outcome(summarise)
        self._end(status, note or "Conversation summarized.")

    def _outcome(self, work: Callable[[], object]) -> tuple[str, str]:
        """Return how the turn ended, in the words of the stop hook, and the message for the person."""
        try:
            work()
        except Stopped:
            return "aborted", "Cancelled"
        except Failure as failure:
            return "error", f"Error: {failure}"
        return "completed", ""

    def _end(self, status: str, note: str) -> None:
        self.session.meta(hasConversation=True)
        self.session.state("error" if status == "error" else "idle")
        self.tell("end", note)

    def _loop(self, messages: list[dict[str, Any]], *, helper: bool = False) -> str:
        while True:
            text, calls = self._complete(messages, silent=helper)
            uses = [
                {
                    "type": "tool_use",
                    "name": call["function"]["name"],
                    "input": json.loads(call["function"]["arguments"]),
                }
                for call in calls
            ]
            said = [{"type": "text", "text": text}] if text else []
            self.session.record("assistant", *said, *uses)
            messages.append({"role": "assistant", "content": text or None, **({"tool_calls": calls} if calls else {})})
            if not calls:
                return text
            for call, use in zip(calls, uses, strict=True):
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": call["id"],
                        "content": self._use(call["id"], use["name"], use["input"], helper=helper),
                    }
                )

    def _complete(self, messages: list[dict[str, Any]], *, silent: bool) -> tuple[str, list[dict[str, Any]]]:
        for attempt in itertools.count(1):
            try:
                return self._ask(messages, silent=silent)
            except Failure as failure:
                if not failure.again or attempt > self._retries:
                    raise
            self.tell("status", f"Reconnecting (attempt {attempt}, {{}}s)")
            if self._stopped.wait(min(2 ** (attempt - 1), 8)):
                raise Stopped
        raise AssertionError

    def _ask(self, messages: list[dict[str, Any]], *, silent: bool) -> tuple[str, list[dict[str, Any]]]:
        if self._stopped.is_set():
            raise Stopped
        connection = http.client.HTTPConnection(self._model.hostname or "", self._model.port, timeout=600)
        if not silent:
            self.tell("status", "Working")
        try:
            connection.connect()
            self._socket = connection.sock
            body = {
                "model": "scripted",
                "stream": True,
                "tools": _schemas(),
                "messages": [{"role": "system", "content": "You are a coding agent."}, *messages],
            }
            connection.request(
                "POST",
                f"{self._model.path}/v1/chat/completions",
                json.dumps(body),
                {"Content-Type": "application/json"},
            )
            response = connection.getresponse()
            if response.status != OK:
                text = json.loads(response.read())["error"]["message"]
                raise Failure(CODES.get(response.status, "unavailable"), text, again=response.status not in {401, 403})
            return self._read(response, silent=silent)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Failure("unavailable", str(error) or "connection lost") from None
        finally:
            connection.close()
            if self._stopped.is_set():
                raise Stopped

    def _read(self, response: http.client.HTTPResponse, *, silent: bool) -> tuple[str, list[dict[str, Any]]]:
        text, thought, calls = "", "", []
        for line in response:
            if not line.startswith(b"data: "):
                continue
            if b"[DONE]" in line:
                break
            delta = json.loads(line[6:])["choices"][0]["delta"]
            calls += [
                {key: value for key, value in call.items() if key != "index"} for call in delta.get("tool_calls", [])
            ]
            if delta.get("reasoning_content"):
                thought += delta["reasoning_content"]
                if not silent:
                    self.tell("status", "Thinking")
            if delta.get("content"):
                text += delta["content"]
                self.tell("token" if silent else "text", delta["content"])
        else:
            raise http.client.HTTPException("the answer broke off")
        if thought:
            self.session.fire("afterAgentThought", text=thought)
        return text, calls

    def _use(self, call: str, name: str, given: dict[str, Any], *, helper: bool) -> str:
        """Perform one tool call with its hooks and approval, and return its result for the model.

        The work of a helper agent is not shown.
        """
        if name in ASK:
            chosen, _ = self._decide(
                Card("", (f"  {given['question']}",), tuple((option, "") for option in given["options"]), question=True)
            )
            return "the user skipped the question" if chosen < 0 else f"the user chose: {given['options'][chosen]}"
        session, began, line = self.session, time.time(), LINES[name].format(**given)
        use = {"tool_name": TOOLS[name][0], "tool_input": given, "tool_use_id": call, "cwd": str(session.folder)}
        verdicts = [session.fire("preToolUse", **use)]
        if name == "shell":
            verdicts.append(
                session.fire("beforeShellExecution", command=given["command"], cwd=str(session.folder), sandbox=False)
            )
        permissions = {verdict.get("permission") for verdict in verdicts}
        card = None if self.everything else _card(name, given, set() if "ask" in permissions else session.allowed)
        refusal = "a hook denied it" if "deny" in permissions else ""
        if card and not refusal:
            choice, reason = self._decide(card)
            refusal = f"the user rejected it. {reason}" if choice == len(card.choices) - 1 else ""
            self.everything = card.choices[choice][0] == EVERYTHING
            if card.choices[choice][1] == "tab":
                session.allowed |= set(card.rules)
        if refusal:
            self.tell("line", f"  {line} Skipped")
            session.fire(
                "postToolUseFailure",
                **use,
                error_message=refusal,
                failure_type="permission_denied",
                duration=_since(began),
                is_interrupt=False,
            )
            return refusal
        if not helper:
            self.tell("tool", (name, line))
        output = getattr(self, f"_do_{name}")(given)
        if not helper:
            self.tell("done", output)
        if name == "shell":
            session.fire(
                "afterShellExecution", command=given["command"], output=output, duration=_since(began), sandbox=False
            )
        session.fire("postToolUse", **use, tool_output=json.dumps({"output": output}), duration=_since(began))
        return str(output)

    def _decide(self, card: Card) -> tuple[int, str]:
        self.session.state("waiting_input" if card.question else "waiting_approval")
        self.tell("card", card)
        answer = self.answers.get()
        if self._stopped.is_set():
            raise Stopped
        self.session.state("running")
        return answer

    def _do_shell(self, given: dict[str, Any]) -> str:
        self._process = subprocess.Popen(
            ["bash", "-c", given["command"]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self.session.folder,
            process_group=0,
        )
        output, _ = self._process.communicate()
        self._process = None
        if self._stopped.is_set():
            raise Stopped
        return output.decode(errors="replace")

    def _do_write(self, given: dict[str, Any]) -> str:
        path = self.session.folder / given["path"]
        old = path.read_text() if path.exists() else ""
        path.write_text(given["contents"])
        self.session.fire(
            "afterFileEdit", file_path=str(path), edits=[{"old_string": old, "new_string": given["contents"]}]
        )
        return f"Wrote {len(given['contents'].splitlines())} lines"

    def _do_fetch(self, _: dict[str, Any]) -> str:
        return "The stand-in fetches nothing."

    def _do_task(self, given: dict[str, Any]) -> str:
        helper = {
            "subagent_id": str(uuid.uuid4()),
            "subagent_type": "generalPurpose",
            "task": given["prompt"],
            "parent_conversation_id": self.session.id,
        }
        began = time.time()
        self.session.fire("subagentStart", **helper, subagent_model=MODEL, is_parallel_worker=False)
        summary = self._loop([{"role": "user", "content": given["prompt"]}], helper=True)
        self.session.fire(
            "subagentStop",
            **helper,
            status="completed",
            description=given["description"],
            summary=summary,
            duration_ms=_since(began),
        )
        return summary


def _schemas() -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": title,
                "parameters": {"type": "object", "properties": {key: {} for key in keys.split()}},
            },
        }
        for name, (title, keys) in {**TOOLS, **ASK}.items()
    ]


def _since(began: float) -> int:
    return int((time.time() - began) * 1000)


def _card(name: str, given: dict[str, Any], allowed: set[str]) -> Card | None:
    """Return the question before a tool runs; None when the permissions allow it."""
    line = LINES[name].format(**given)
    if name == "shell":
        programs = dict.fromkeys(
            part.split()[0] for part in re.split(r"&&|\|\||[;|]", given["command"]) if part.split()
        )
        unknown = [program for program in programs if f"Shell({program})" not in allowed]
        words = ", ".join(unknown)
        skip = "Skip & tell the agent what to do instead", "esc or n"
        card = Card(
            line,
            (f" $  {given['command']} in .", "", " Run this command?", f" Not in allowlist: {words}"),
            (("Run (once)", "y"), (f"Add Shell({words}) to allowlist?", "tab"), (EVERYTHING, "shift+tab"), skip),
            reason=True,
            rules=tuple(f"Shell({program})" for program in unknown),
        )
        return card if unknown else None
    if name == "write":
        rule = f"Write({given['path']})"
        reject = "Reject & propose changes", "esc or n or p"
        rows = f" {given['path']}", "", " Write to this file?"
        return (
            None
            if rule in allowed
            else Card(
                line, rows, (("Proceed", "y"), (f"Add {rule} to allowlist?", "tab"), reject), reason=True, rules=(rule,)
            )
        )
    if name == "fetch":
        host = urlsplit(given["url"]).hostname
        rows = f" {line}", "", " Allow this web fetch?"
        always = f"Always allow {host}", "tab"
        rule = f"WebFetch({host})"
        return (
            None if rule in allowed else Card(line, rows, (("Fetch", "y"), always, ("Skip", "esc or n")), rules=(rule,))
        )
    return None
