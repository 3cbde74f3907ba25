"""A worker for a rented machine: joins a mesh with the invite in COVEY_INVITE, and does the tasks with a tag.

`covey up && COVEY_INVITE=covey1… python worker.py gpu nvidia-smi`: each task's title is given to the program on its
standard input, and what it prints is the result. A worker that is killed loses its claim, and another one takes over.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

from covey_sdk import CoveyError, Mesh, Node


def joined() -> Mesh:
    """Return the mesh, which is joined at the first start. Raises CoveyError if the invite is not good."""
    try:
        mesh = Mesh()
    except CoveyError as error:
        if error.error != "no_mesh":
            raise
        with Node() as node:
            slug = node.mesh.join(os.environ["COVEY_INVITE"], name=f"worker-{socket.gethostname()}"[:30].lower())[
                "slug"
            ]
        mesh = Mesh(slug)
    while True:
        try:
            if mesh.health()["connected"]:
                return mesh
        except CoveyError as error:
            if error.error != "daemon_not_running":
                raise
        time.sleep(0.5)


def main() -> None:
    """Do tasks for ever."""
    tag, command = sys.argv[1], sys.argv[2:]
    mesh = joined()
    while True:
        task = mesh.task.take(tags=[tag], ttl="1h", wait="20s")["task"]
        if task is None:
            continue
        done = subprocess.run(command, input=task["title"], capture_output=True, text=True, check=False)
        if done.returncode:
            mesh.task.fail(task["id"], done.stderr[-500:] or f"exit code {done.returncode}")
        else:
            mesh.task.complete(task["id"], done.stdout.strip())


if __name__ == "__main__":
    main()
