"""What an agent should know about the tool's commands; the same for the three front ends."""

from __future__ import annotations

from murli import ArgumentMetadata, Example, FlagAnnotation, Metadata, ReturnSchema

VERSION = "1.0.0"
BIRD = [ArgumentMetadata(name="id", description="Id of the bird.")]

ROOT = Metadata(
    flag_annotations={
        "region": FlagAnnotation(profileable=True, persistent=True),
        "token": FlagAnnotation(profileable=True, persistent=True, sensitive=True, env="ROOST_TOKEN"),
    }
)
LIST = Metadata(
    agent_description="Lists the birds of one region, sorted.",
    when_to_use="Use it to find the id of a bird.",
    idempotent=True,
    returns=ReturnSchema(
        type="array", description="Birds", shape={"id": "string", "species": "string", "count": "int"}
    ),
    examples=[
        Example(command="roost list", description="Birds in the north"),
        Example(
            command="roost --region south list --sort species --fields id,count",
            description="Two fields of the birds in the south",
        ),
    ],
)
GET = Metadata(
    idempotent=True,
    arguments=BIRD,
    examples=[
        Example(command="roost get pip", description="One bird"),
        Example(command="roost get nobody", description="A bird that is not there", expected_exit_code=5),
    ],
)
ADD = Metadata(
    mutating=True,
    guard=False,
    arguments=[ArgumentMetadata(name="name", description="Name of the bird.")],
    agent_description="Adds a bird. `roost delete` takes it back.",
    flag_annotations={
        "count": FlagAnnotation(pattern=r"^[1-9]\d*$"),
        "tag": FlagAnnotation(mutually_exclusive_with=["no-tags"]),
    },
    examples=[
        Example(command="roost add Hoot --species owl --count 2 --tag night --tag shy", description="Add two owls")
    ],
)
DELETE = Metadata(
    mutating=True,
    destructive=True,
    dry_runnable=True,
    arguments=BIRD,
    examples=[
        Example(command="roost delete quill --dry-run", description="See what would go"),
        Example(command="roost delete quill --yes", description="Delete it"),
    ],
)
WATCH = Metadata(
    idempotent=True,
    returns=ReturnSchema(type="ndjson", description="One sighting a line, then a summary"),
    examples=[Example(command="roost watch --steps 3", description="Three sightings")],
)
NEST_LIST = Metadata(idempotent=True, examples=[Example(command="roost nest list", description="Birds by region")])
NEST_CLEAR = Metadata(
    mutating=True,
    idempotent=True,
    destructive=True,
    arguments=[ArgumentMetadata(name="region", description="Region to clear.")],
    examples=[Example(command="roost nest clear south --yes", description="Clear the south")],
)
WHOAMI = Metadata(
    idempotent=True, examples=[Example(command="roost whoami", description="Your region and whether you are signed in")]
)
REHEARSE = Metadata(
    arguments=[ArgumentMetadata(name="kind", description="Kind of failure.")],
    agent_description="Fails on purpose, to show what each kind of failure looks like.",
    examples=[Example(command="roost rehearse rate-limit", description="See a rate limit", expected_exit_code=8)],
)
