"""A worker for a rented machine: joins a mesh with the invite in COVEY_INVITE, and does the tasks with a tag.

`covey up && COVEY_INVITE=covey1… python worker.py gpu nvidia-smi`: each task's title is given to the program on its
standard input, and what it prints is the result. The claim is renewed while the program runs; a worker that is killed
loses it, and another one takes over. A task whose program fails has failed; without the program, it is given back.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time

from covey_sdk import CoveyError, Mesh, Node

CLAIM, RENEWED_EVERY_S = "5m", 60.0
LONGEST_RESULT, LONGEST_REASON = 8_000, 500


def joined() -> Mesh:
    """Return the mesh, which is joined at the first start. Raises CoveyError if the invite is not good."""
    try:
        mesh = Mesh()
    except CoveyError as error:
        if error.error != "no_mesh" or "COVEY_INVITE" not in os.environ:
            raise
        name = f"worker-{socket.gethostname()}"[:30].lower()
        with Node() as node:
            slug = node.mesh.join(os.environ["COVEY_INVITE"], name=name)["slug"]
        mesh = Mesh(slug)
    while True:
        try:
            if mesh.health()["connected"]:
                return mesh
        except CoveyError as error:
            if error.error != "daemon_not_running":
                raise
        time.sleep(0.5)


def text_of(output: bytes) -> str:
    """Return what a program printed, without what is no text: control characters, and bytes that are not UTF-8."""
    lines = output.decode(errors="replace").splitlines()
    return "\n".join("".join(one for one in line if one.isprintable() or one == "\t") for line in lines).strip()


def keep(mesh: Mesh, task: str, done: threading.Event) -> None:
    """Renew the claim of a task until it is done. One that is lost is reported when the task is completed."""
    while not done.wait(RENEWED_EVERY_S):
        with contextlib.suppress(CoveyError):
            mesh.task.renew(task, ttl=CLAIM)


def do(mesh: Mesh, task: str, title: str, command: list[str]) -> None:
    """Give a task to the program. Raises CoveyError if the mesh does not take the result, OSError without a program."""
    done = threading.Event()
    renewing = threading.Thread(target=keep, args=(mesh, task, done), daemon=True)
    renewing.start()
    try:
        ended = subprocess.run(command, input=title.encode(), capture_output=True, check=False)
    except OSError:
        mesh.task.release(task)
        raise
    finally:
        done.set()
        renewing.join()
    if ended.returncode:
        mesh.task.fail(task, text_of(ended.stderr)[-LONGEST_REASON:] or f"exit code {ended.returncode}")
    else:
        mesh.task.complete(task, text_of(ended.stdout)[:LONGEST_RESULT])


def main(tag: str, command: list[str]) -> None:
    """Do tasks for ever. Raises CoveyError if the mesh cannot be had, OSError if the program cannot be run."""
    mesh = joined()
    while True:
        task = mesh.task.take(tags=[tag], ttl=CLAIM, wait="20s")["task"]
        if task is not None:
            try:
                do(mesh, task["id"], task["title"], command)
            except CoveyError as refused:  # the claim was lost meanwhile, say
                sys.stderr.write(f"{task['title']}: {refused}\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:  # noqa: PLR2004
        sys.exit("usage: COVEY_INVITE=… worker.py TAG PROGRAM [ARGUMENT…]")
    try:
        main(sys.argv[1], sys.argv[2:])
    except (CoveyError, OSError) as failed:
        sys.exit(f"{failed}\nusage: COVEY_INVITE=… worker.py TAG PROGRAM [ARGUMENT…]")
    except KeyboardInterrupt:
        sys.exit(130)
