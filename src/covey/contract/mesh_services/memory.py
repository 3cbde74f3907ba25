"""Memory: texts with tags that agents remember for each other, recalled by words and by meaning."""

from __future__ import annotations

from covey.contract.event_kind import EventKind
from covey.contract.mesh_messages import peer_operation
from covey.contract.mesh_services.texts import (
    EMBEDDER,
    FOUND_BY,
    HITS,
    QUERY,
    REEMBED,
    REEMBEDDING,
    SIMILARITY,
    WRITTEN,
)
from covey.contract.mesh_services.watching import watching
from covey.contract.operation import Parameter, array, optional, shape

TAGS = Parameter("tags", "A tag, such as deploy; repeatable.", multiple=True, short="-t", content="text")
ONLY_TAGS = Parameter(
    "tags", "Only those with this tag; repeatable: with all of them.", multiple=True, short="-t", content="text"
)
ENTRY = shape("MeshMemory", id="string", content="string", tags=array("string"), **WRITTEN)
REMEMBERED = shape(
    "MeshMemoryRemembered", id="string", content="string", tags=array("string"), **WRITTEN, embedder=EMBEDDER
)
HIT = shape(
    "MeshMemoryHit",
    id="string",
    content="string",
    tags=array("string"),
    **WRITTEN,
    found_by=FOUND_BY,
    score="number",
    similarity=SIMILARITY,
)
CHANGED = EventKind(
    "memory_changed",
    "Somebody has remembered something, or deleted a memory: then `deleted` is true.",
    subject="id",
    data=shape(
        id="string",
        excerpt="string",
        tags=array("string"),
        deleted="boolean",
        author="string",
        author_name="string",
    ),
)

GROUPS = {"mesh memory": "What the agents of a mesh remember for each other."}
EVENTS = (CHANGED,)
OPERATIONS = (
    peer_operation(
        "mesh.memory.remember",
        "Remember a text for all members.",
        cli=["mesh", "memory", "remember"],
        method="POST",
        route="/v1/memory/remember",
        description="A text of at most 32,768 characters. `embedder` says what gave it a meaning; without a model it "
        "is found by its words only.",
        when_to_use="Call it to keep a fact, a decision or a lesson that agents will need later.",
        parameters=[
            Parameter(
                "content",
                "The text; on the command line - is standard input.",
                required=True,
                positional=True,
                content="raw",
            ),
            TAGS,
        ],
        result=REMEMBERED,
        mutating=True,
        mcp=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.memory.recall",
        "Find what was remembered, by its words and its meaning.",
        cli=["mesh", "memory", "recall"],
        route="/v1/memory/recall",
        description="The words of the query and its meaning each give a ranking; both are joined (reciprocal rank "
        "fusion). `found_by` says which found a memory. Words in double quotes stand together, a word with * at its "
        "end is the beginning of one; nothing else has a special meaning. `left_out` is how many memories could not be "
        "compared by meaning, because their vector is of another model. It is read from the replica of this peer: also "
        "without a connection.",
        when_to_use="Call it before you start, to learn what other agents already know.",
        parameters=[QUERY, ONLY_TAGS, HITS],
        result=shape("MeshRecall", items=array(HIT), embedder=EMBEDDER, left_out="integer"),
        idempotent=True,
        mcp=True,
    ),
    peer_operation(
        "mesh.memory.list",
        "List what was remembered, the newest first.",
        cli=["mesh", "memory", "list"],
        route="/v1/memory/list",
        parameters=[
            ONLY_TAGS,
            Parameter("after", "Those after this one: the `next` of the answer before.", default=""),
            Parameter("limit", "At most so many.", type="int", default=50, short="-n", minimum=1, maximum=1000),
        ],
        result=shape("MeshMemories", items=array(ENTRY), next=optional("string")),
        idempotent=True,
    ),
    peer_operation(
        "mesh.memory.forget",
        "Delete a memory for everybody.",
        cli=["mesh", "memory", "forget"],
        method="POST",
        route="/v1/memory/forget",
        parameters=[Parameter("id", "The id of the memory.", required=True, positional=True, content="id")],
        result=shape("MeshMemoryForgotten", id="string"),
        mutating=True,
        mcp=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.memory.reembed",
        "Give every memory a vector of the configured model.",
        cli=["mesh", "memory", "reembed"],
        method="POST",
        route="/v1/memory/reembed",
        description=REEMBED,
        result=REEMBEDDING,
        mutating=True,
        no_consent="shared data is never consent",
    ),
)
LOCAL_OPERATIONS = (watching("memory", "Show what is remembered and deleted, as it happens."),)
