"""Releases of tmux, unpacked privately from Debian's suites: nothing is installed over the system's own.

    python -m lab.tmux_versions       prints a line for each release that this machine does not have: its version,
                                      a TAB, the folder to put in front of PATH

Where packages of Debian cannot be had (another system, no network) it says so on standard error and lists what it has.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.install import lab_folder

SUITES = ("bookworm", "trixie", "forky", "sid")
"""Debian 12 (tmux 3.3a), 13 (3.5a), the next release, and what is newest."""
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LIMIT_S = 300
TRIES = 3


class UnavailableError(RuntimeError):
    """The packages of a suite are not available here; the message says why."""


def main() -> int:
    sys.stdout.writelines(f"{version}\t{folder}\n" for version, folder in available().items())
    return 0


def available() -> dict[str, Path]:
    """Return the releases that this machine does not have and that can be unpacked here, each with its folder."""
    found: dict[str, Path] = {}
    for suite in SUITES:
        if suite == installed_suite():
            continue
        folder = lab_folder() / "tmux" / suite
        try:
            version = version_of(folder) or unpack(suite, folder)
        except UnavailableError as error:
            sys.stderr.write(f"tmux of Debian {suite} cannot be had: {error}\n")
        else:
            found.setdefault(version, folder)
    return found


def installed_version() -> str:
    """Return the version of the tmux that this machine has."""
    ended = subprocess.run(["tmux", "-V"], capture_output=True, text=True, timeout=30, check=True)
    return ended.stdout.removeprefix("tmux ").strip()


def installed_suite() -> str:
    """Return the name of the suite that this machine runs, whose tmux is there already; empty if it has no name."""
    try:
        return platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    except OSError:
        return ""


def version_of(folder: Path) -> str:
    """Return the version of the release unpacked in this folder; an empty text if there is none that runs."""
    try:
        ended = subprocess.run([folder / "tmux", "-V"], capture_output=True, text=True, timeout=30, check=False)
    except OSError:
        return ""
    return ended.stdout.removeprefix("tmux ").strip()


def unpack(suite: str, folder: Path) -> str:
    """Download tmux and its libraries from a suite, and return the version. Raises `UnavailableError` if it cannot."""
    archive = archive_uri()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".partial-") as partial:
        packages = download(Path(partial), archive, suite)
        whole = Path(partial) / "whole"
        whole.mkdir()
        for package in packages:
            run(["dpkg-deb", "--extract", str(package), str(whole / "root")])
        # The name stays valid when the folder is moved: the script finds its files from its own place.
        program = whole / "tmux"
        program.write_text(script(whole / "root"))
        program.chmod(0o755)
        version = version_of(whole)
        if not version:
            raise UnavailableError("the unpacked program does not run on this machine")
        shutil.rmtree(folder, ignore_errors=True)
        try:
            whole.rename(folder)
        except OSError:  # another clone was faster; its copy is as good
            if not version_of(folder):
                raise
    return version


def archive_uri() -> str:
    """Return the address of the Debian archive that this machine uses."""
    if not KEYRING.exists() or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise UnavailableError("this machine does not use Debian's packages")
    targets = run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages", "Origin: Debian"]
    )
    for line in targets.splitlines():
        uri, _, release = line.rpartition(" ")
        if uri.rstrip("/").endswith("/debian") and "-" not in release:
            return uri
    raise UnavailableError("no Debian archive is among this machine's package sources; run apt-get update first")


def download(folder: Path, archive: str, suite: str) -> list[Path]:
    """Download tmux with everything it depends on, as apt would for an empty system, and return the package files."""
    for name in ("lists/partial", "cache/archives/partial", "state"):
        (folder / name).mkdir(parents=True)
    (folder / "state/status").touch()
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {archive} {suite} main\n")
    settings = {
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State": folder / "state",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "state/status",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": str(TRIES),
    }
    apt = ["apt-get", "-qq", *(part for name, value in settings.items() for part in ("-o", f"{name}={value}"))]
    run([*apt, "update"])
    run([*apt, "--yes", "--no-install-recommends", "--download-only", "install", "tmux"])
    return sorted((folder / "cache/archives").glob("*.deb"))


def script(root: Path) -> str:
    """Return a program that starts the tmux below `root` with the loader and the libraries of its own suite."""
    loader = next((path for path in root.glob("usr/lib/*/ld-linux*.so.*")), None) or next(
        root.glob("lib/*/ld-linux*.so.*"), None
    )
    if loader is None:
        raise UnavailableError("its C library has no loader that is known here")
    folders = sorted(
        {
            str(path.parent.relative_to(root))
            for pattern in ("usr/lib/*/*.so.*", "lib/*/*.so.*")
            for path in root.glob(pattern)
        }
    )
    libraries = ":".join(f"$root/{name}" for name in folders)
    return (
        "#!/bin/sh\n"
        'root=$(dirname "$0")/root\n'
        f'exec "$root/{shlex.quote(str(loader.relative_to(root)))}" --argv0 "$0" --library-path "{libraries}" '
        '"$root/usr/bin/tmux" "$@"\n'
    )


def run(command: list[str]) -> str:
    environment = {**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"}
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{command[0]} did not end within {LIMIT_S} s") from None
    if ended.returncode:
        words = [line for line in ended.stderr.splitlines() if line.strip()]
        raise UnavailableError(words[-1] if words else f"{command[0]} ended with code {ended.returncode}")
    return ended.stdout


if __name__ == "__main__":
    sys.exit(main())
