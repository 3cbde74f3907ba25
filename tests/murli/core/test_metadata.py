"""What a tool can say about its commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from murli._core.metadata import (
    NOTHING,
    ArgumentMetadata,
    Example,
    FlagAnnotation,
    Metadata,
    ReturnSchema,
    annotate,
    annotated,
    metadata_of,
)


def test_annotate_returns_its_target_so_that_it_can_wrap_a_call() -> None:
    parser = argparse.ArgumentParser()
    assert annotate(parser, Metadata(mutating=True)) is parser


def test_metadata_is_found_on_the_target_that_was_annotated() -> None:
    metadata = Metadata(when_to_use="often")
    assert metadata_of(annotate(argparse.ArgumentParser(), metadata)) is metadata


def test_the_decorator_leaves_the_function_as_it_is() -> None:
    @annotated(Metadata(idempotent=True))
    def handler(number: int) -> int:
        return number + 1

    assert handler(1) == 2
    assert metadata_of(handler).idempotent


def test_the_first_target_with_metadata_wins() -> None:
    first, second = Metadata(when_to_use="first"), Metadata(when_to_use="second")
    with_first = annotate(argparse.ArgumentParser(), first)
    with_second = annotate(argparse.ArgumentParser(), second)
    assert metadata_of(with_first, with_second) is first
    assert metadata_of(argparse.ArgumentParser(), with_second) is second


def test_a_target_without_metadata_has_nothing_to_say() -> None:
    handler: Callable[[], None] | None = None
    assert metadata_of(argparse.ArgumentParser(), handler) is NOTHING
    assert metadata_of() is NOTHING


def test_annotating_again_replaces_what_was_said() -> None:
    parser = annotate(argparse.ArgumentParser(), Metadata(mutating=True))
    annotate(parser, Metadata())
    assert not metadata_of(parser).mutating


def test_metadata_says_nothing_by_default_but_a_mutation_is_guarded() -> None:
    assert Metadata().as_dict() == {
        "agent_description": "",
        "when_to_use": "",
        "idempotent": False,
        "mutating": False,
        "destructive": False,
        "dry_runnable": False,
        "guard": True,
        "unguarded_with": [],
        "arguments": [],
        "returns": None,
        "examples": [],
        "flag_annotations": {},
    }


def test_two_commands_never_share_their_lists() -> None:
    first = Metadata()
    first.examples.append(Example(command="roost list"))
    first.flag_annotations["top"] = FlagAnnotation(enum=["a"])
    assert (Metadata().examples, Metadata().flag_annotations, NOTHING.examples) == ([], {}, [])


def test_the_parts_of_metadata_have_sensible_defaults() -> None:
    assert Example(command="roost list").expected_exit_code == 0
    assert ReturnSchema().type == "json"
    assert ArgumentMetadata(name="id").required is None
    assert not any(FlagAnnotation().as_dict().values())
