"""The operations on the dialog that an agent has open on its screen."""

from __future__ import annotations

from covey.contract.actions import AGENT_REF, CONDITIONS, SNAPSHOT
from covey.contract.operation import Operation, Parameter, array, shape

GROUPS = {"dialog": "See and answer what an agent asks on its screen."}

OPTION = shape("DialogOption", number="integer", label="string", means="string", marked="boolean", keys=array("string"))

OPERATIONS = (
    Operation(
        "dialog.show",
        "Show what an agent asks on its screen, and the keys that would answer it.",
        cli=["dialog", "show"],
        route="/v1/dialog",
        when_to_use="Call it before `dialog answer`: its fingerprint binds the answer to what was seen.",
        parameters=[AGENT_REF],
        result=shape(
            "ShownDialog",
            snapshot=SNAPSHOT,
            kind="string",
            title="string",
            text=array("string"),
            options=array(OPTION),
            fingerprint="string",
        ),
        idempotent=True,
    ),
    Operation(
        "dialog.answer",
        "Answer what an agent asks on its screen with the keys of a person, or refuse.",
        cli=["dialog", "answer"],
        method="POST",
        route="/v1/dialog/answer",
        description="The keys are computed from the options on the screen, and pressed by the command of tmux that "
        "finds every row of the dialog where it was: a dialog that has taken its place is not answered. Refused for "
        "dialogs that are not understood, or that do not fit into the pane.",
        parameters=[
            AGENT_REF,
            Parameter(
                "choice",
                "once, always or deny for an approval; the number of an option; or, for a question, its text.",
                default="",
            ),
            Parameter("text", "Your own words, for a question that takes them.", default="", content="raw"),
            Parameter("fingerprint", "Only if it is the dialog that `covey dialog show` showed."),
            *CONDITIONS,
        ],
        result=shape(
            "DialogAnswer",
            snapshot=SNAPSHOT,
            fingerprint="string",
            option=OPTION,
            gone="boolean",
            why="string",
            state="string",
            next="string",
        ),
        mutating=True,
        consent=True,
    ),
)
