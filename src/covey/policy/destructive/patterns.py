"""The built-in deny list as people read it, in the patterns of Claude Code."""

from __future__ import annotations

BUILT_IN = (
    "Bash(rm -rf /)",
    "Bash(rm -rf /*)",
    "Bash(rm -rf ~)",
    "Bash(rm -rf ~/*)",
    "Bash(mkfs*)",
    "Bash(dd if=* of=/dev/*)",
    "Bash(shred *)",
    "Bash(sudo *)",
    "Bash(shutdown *)",
    "Bash(reboot*)",
    "Bash(halt*)",
    "Bash(poweroff*)",
)
"""What `judge` refuses by its meaning, in whichever way it is written. Agents that have patterns get these as well."""
