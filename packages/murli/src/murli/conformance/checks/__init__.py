"""Every check of the kit, in the order of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli.conformance.checks import (
    describe,
    edges,
    errors,
    examples,
    inputs,
    profiles,
    safety,
    schema,
    secrets,
    streams,
    terminals,
)

if TYPE_CHECKING:
    from murli.conformance.registry import Check

CHECKS: tuple[Check, ...] = (
    *describe.CHECKS,
    *schema.CHECKS,
    *examples.CHECKS,
    *streams.CHECKS,
    *errors.CHECKS,
    *safety.CHECKS,
    *secrets.CHECKS,
    *profiles.CHECKS,
    *terminals.CHECKS,
    *edges.CHECKS,
    *inputs.CHECKS,
    *errors.LAST,
    *terminals.LAST,
)
