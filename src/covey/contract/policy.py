"""The operations of the policy: its rules, what they decide, and what they would have decided."""

from __future__ import annotations

from covey.contract.operation import Operation, Parameter, array, mapping, one_of, shape

GROUPS = {"policy": "See which requests of agents are allowed or denied by rules."}

EFFECT = one_of("PolicyEffect", ("allow", "deny", "ask"))
PROBLEM = shape("PolicyProblem", rule="integer", line="integer", message="string")

OPERATIONS = (
    Operation(
        "policy.list",
        "List the rules of the policy, those that win first, and what is wrong with them.",
        cli=["policy", "list"],
        route="/v1/policy",
        offline=True,
        description="The rules are the tables [[policy.rule]] of config.toml. While one of them is wrong, nothing is "
        "allowed. The number of a rule is its place in the file, from 1.",
        result=shape(
            "PolicyRules",
            items=array(shape("PolicyRule", name="string", effect=EFFECT, conditions=mapping("string"))),
            problems=array(PROBLEM),
        ),
        idempotent=True,
        examples=[("covey policy list", "The rules that are in force", 0)],
    ),
    Operation(
        "policy.explain",
        "Show what would be decided about a request, and by which rule.",
        cli=["policy", "explain"],
        method="POST",
        route="/v1/policy/explain",
        offline=True,
        parameters=[
            Parameter("agent", "Which agent asks, such as claude.", default=""),
            Parameter("tool", "The tool that it wants to use, such as Bash.", default=""),
            Parameter("command", "The command that it wants to run.", default="", content="raw"),
            Parameter("path", "A file that it wants to write or read; repeatable.", multiple=True, content="raw"),
            Parameter("input", "The whole input of the tool instead, a JSON object.", content="raw"),
            Parameter("target", "The machine that it runs on.", default=""),
            Parameter("folder", "The folder that it works in.", default="", path=True),
        ],
        result=shape("PolicyDecision", effect=EFFECT, rule="string", why="string"),
        idempotent=True,
        examples=[
            ("covey policy explain --agent claude --tool Bash --command 'git push'", "Would it be asked?", 0),
        ],
    ),
    Operation(
        "policy.test",
        "Run a policy over the requests of the past, and show what would have been decided.",
        cli=["policy", "test"],
        method="POST",
        route="/v1/policy/test",
        description="Without --rules, the policy that is in force. `decided` is what was decided then, ask if a person "
        "was asked; `changed` says that it would have been decided otherwise, `against` that a person has answered "
        "otherwise. The counts are of all requests, the items are the last of them.",
        parameters=[
            Parameter(
                "rules",
                "Tables [[policy.rule]] as TOML, instead of those in force; on the command line a file that holds "
                "them, or - for standard input.",
                content="raw",
            ),
            Parameter("since", "How far back: 30d, or 2026-01-31T14:05:00Z.", default="30d"),
            Parameter("limit", "How many requests to list.", type="int", default=100, minimum=1, maximum=1000),
        ],
        result=shape(
            "PolicyTrial",
            items=array(
                shape(
                    "TriedRequest",
                    at="string",
                    ref="string",
                    agent="string",
                    tool="string",
                    command="string",
                    paths=array("string"),
                    target="string",
                    folder="string",
                    outcome="string",
                    via="string",
                    decided=EFFECT,
                    effect=EFFECT,
                    rule="string",
                    why="string",
                    changed="boolean",
                    against="boolean",
                )
            ),
            total="integer",
            allow="integer",
            deny="integer",
            ask="integer",
            changed="integer",
            against="integer",
            problems=array(PROBLEM),
        ),
        idempotent=True,
        examples=[
            (
                "covey policy test --since 7d",
                "What the rules would have decided last week; exit code 2 if the daemon does not run",
                2,
            )
        ],
    ),
)
