"""Vector: collections of texts with metadata, searched by meaning."""

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
from covey.contract.operation import Parameter, array, shape

COLLECTION = Parameter(
    "collection", "The name of the collection, such as docs.", required=True, positional=True, content="text"
)
STORED = shape(
    "MeshVectorStored",
    id="string",
    collection="string",
    text="string",
    metadata="object",
    **WRITTEN,
    embedder=EMBEDDER,
)
HIT = shape(
    "MeshVectorHit",
    id="string",
    collection="string",
    text="string",
    metadata="object",
    **WRITTEN,
    found_by=FOUND_BY,
    similarity=SIMILARITY,
)
CHANGED = EventKind(
    "vector_changed",
    "A text was stored in a collection, or deleted: then `deleted` is true.",
    subject="id",
    data=shape(
        id="string",
        collection="string",
        excerpt="string",
        deleted="boolean",
        author="string",
        author_name="string",
    ),
)

GROUPS = {"mesh vector": "Collections of texts that are searched by meaning."}
EVENTS = (CHANGED,)
OPERATIONS = (
    peer_operation(
        "mesh.vector.store",
        "Store a text in a collection.",
        cli=["mesh", "vector", "store"],
        method="POST",
        route="/v1/vector/store",
        description="A text of at most 32,768 characters, with metadata to filter by. This peer makes its vector; the "
        "others take it over. A collection is there when it has a text.",
        when_to_use="Call it to make a text findable by its meaning, with fields to filter by.",
        parameters=[
            COLLECTION,
            Parameter(
                "text",
                "The text; on the command line - is standard input.",
                required=True,
                positional=True,
                content="raw",
            ),
            Parameter("metadata", 'A JSON object, such as {"lang": "go"}.', type="object", short="-m", content="raw"),
        ],
        result=STORED,
        mutating=True,
        mcp=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.vector.search",
        "Search a collection by meaning.",
        cli=["mesh", "vector", "search"],
        route="/v1/vector/search",
        description="Every vector of the collection that is of the configured model is compared with that of the "
        "query; `left_out` is how many are of another one. Without a model the texts are searched by their words, and "
        "`found_by` says so. It is read from the replica of this peer: also without a connection.",
        when_to_use="Call it to find texts of a collection that are about something.",
        parameters=[
            COLLECTION,
            QUERY,
            Parameter(
                "filter",
                "A JSON object: fields of the metadata with the value, or a list of values, that they must have: "
                '{"lang": "go", "kind": ["doc", "code"]}.',
                type="object",
                short="-f",
                content="raw",
            ),
            HITS,
        ],
        result=shape("MeshVectorHits", items=array(HIT), embedder=EMBEDDER, left_out="integer"),
        idempotent=True,
        mcp=True,
    ),
    peer_operation(
        "mesh.vector.delete",
        "Delete a text of a collection for everybody.",
        cli=["mesh", "vector", "delete"],
        method="POST",
        route="/v1/vector/delete",
        parameters=[
            COLLECTION,
            Parameter("id", "The id of the text.", required=True, positional=True, content="id"),
        ],
        result=shape("MeshVectorDeleted", id="string", collection="string"),
        mutating=True,
        mcp=True,
        no_consent="shared data is never consent",
    ),
    peer_operation(
        "mesh.vector.collections",
        "List the collections.",
        cli=["mesh", "vector", "collections"],
        route="/v1/vector/collections",
        result=shape(
            "MeshCollections",
            items=array(
                shape(
                    "MeshCollection",
                    collection="string",
                    texts="integer",
                    models=array("string"),
                    without_vector="integer",
                )
            ),
            embedder=EMBEDDER,
        ),
        idempotent=True,
        mcp=True,
    ),
    peer_operation(
        "mesh.vector.reembed",
        "Give every text a vector of the configured model.",
        cli=["mesh", "vector", "reembed"],
        method="POST",
        route="/v1/vector/reembed",
        description=REEMBED,
        parameters=[Parameter("collection", "Only the texts of this collection.", content="text")],
        result=REEMBEDDING,
        mutating=True,
        no_consent="shared data is never consent",
    ),
)
LOCAL_OPERATIONS = (watching("vector", "Show what is stored in collections and deleted, as it happens."),)
