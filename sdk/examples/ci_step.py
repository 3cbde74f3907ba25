"""A step of a CI job that asks an agent, waits until it has answered, and fails if it does not.

`python ci_step.py api "Run the tests, and say which fail" "PASS"`: the message waits until the agent is ready, its
answer is printed, and the step fails if the answer does not contain the last argument. It fails, too, with the reason,
if the message is refused, if the agent asks something instead of answering, and after half an hour.
"""

from __future__ import annotations

import sys

from covey_sdk import CoveyError, Node

READY_WITHIN, ANSWER_WITHIN = "10m", "30m"


def main(agent: str, message: str, wanted: str = "") -> int:
    """Return 0 if the agent has answered, and with the words that were wanted."""
    with Node() as node:
        try:
            sent = node.send(agent, text=message, when_ready=True, timeout=READY_WITHIN)["receipt"]
            assert sent is not None, "only a check has no receipt"
            answer = node.receipts.wait(sent["id"], timeout=ANSWER_WITHIN)
        except CoveyError as refused:
            sys.stderr.write(f"{agent}: {refused}\n")
            return 1
    if answer["outcome"] != "answered":
        sys.stderr.write(f"{agent}: {answer['outcome']}: {answer['why']}\n")
        return 1
    sys.stdout.write(f"{answer['reply']}\n")
    return 0 if wanted in answer["reply"] else 1


if __name__ == "__main__":
    if len(sys.argv) not in {3, 4}:
        sys.exit("usage: ci_step.py AGENT MESSAGE [WORDS OF THE ANSWER]")
    sys.exit(main(*sys.argv[1:]))
