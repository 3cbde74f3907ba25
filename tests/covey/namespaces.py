"""Tests of sandboxes are skipped where no namespace can be made: in a chroot, and in most containers."""

from __future__ import annotations

import sys

import pytest

from covey.mesh.hooks.sandbox import Sandbox

PROBLEM = Sandbox().examine()
REASON = "bubblewrap can make no namespace here, and hooks and Codex get no sandbox"
needs_bubblewrap = pytest.mark.skipif(bool(PROBLEM), reason=REASON)
needs_codex_sandbox = pytest.mark.skipif(bool(PROBLEM) and sys.platform == "linux", reason=REASON)
"""On other systems Codex confines its tools without namespaces."""
