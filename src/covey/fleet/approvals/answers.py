"""The answers that a person gives to the questions of an agent: by option or in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from murli import user_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from covey.agents.approvals import Question
    from murli import AgentError


def chosen(questions: Sequence[Question], options: Sequence[str], text: str | None) -> list[str]:
    """Return one text for each question. Raises AgentError if the answers do not fit the questions."""
    if text:
        if len(questions) != 1:
            raise _misfit(f"it asks {len(questions)} questions, and --text answers one", questions)
        return [text]
    if len(questions) == 1 and questions[0].several:
        return [", ".join(_option(questions[0], part) for given in options for part in given.split(","))]
    if len(options) != len(questions):
        raise _misfit(f"it asks {len(questions)} questions, and {len(options)} options were given", questions)
    return [
        ", ".join(_option(question, part) for part in (given.split(",") if question.several else [given]))
        for question, given in zip(questions, options, strict=True)
    ]


def _option(question: Question, given: str) -> str:
    """Return the option that is named by its words or by its number."""
    name = given.strip()
    if name in question.options:
        return name
    if name.isdecimal() and 1 <= int(name) <= len(question.options):
        return question.options[int(name) - 1]
    same = [option for option in question.options if option.casefold() == name.casefold()]
    if len(same) == 1:
        return same[0]
    raise _misfit(f"{name[:60]!r} is not offered for {question.text[:120]!r}", [question])


def _misfit(message: str, questions: Sequence[Question]) -> AgentError:
    offered = " · ".join(f"{question.text[:120]} {' | '.join(question.options)}" for question in questions)
    return user_error(
        message,
        f"Choose with --option for each question, in this order: {offered}",
        error="argument_error",
        field="option",
        valid_values=questions[0].options if len(questions) == 1 else (),
    )
