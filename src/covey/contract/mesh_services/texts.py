"""What the operations of memory and vector collections have in common."""

from __future__ import annotations

from covey.contract.operation import Parameter, array, optional, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EMBEDDER = shape(
    "MeshEmbedder",
    tier={"type": "string", "enum": ["minilm", "static", "none"]},
    model=optional("string"),
    note="string",
)
"""What gave the texts a meaning in this call; with `none`, `note` says why and what to do."""
WRITTEN: dict[str, Any] = {
    "author": "string",
    "author_name": "string",
    "at": "string",
    "rewritten_by": optional("string"),
    "model": optional("string"),
}
"""By whom and when a text was written. `rewritten_by` is the member that has written it again with a vector of another
model, and that says who wrote it first. `model` is that of its vector; null: it has none."""
FOUND_BY = array({"type": "string", "enum": ["words", "meaning"]})
SIMILARITY = optional("number")
"""1 is the same meaning, 0 none in common; null for what was found by its words only."""
QUERY = Parameter("q", "What you look for, in words or as a question.", required=True, positional=True, content="raw")
HITS = Parameter("limit", "At most so many.", type="int", default=10, short="-n", minimum=1, maximum=100)
REEMBEDDING = shape(
    "MeshReembedding",
    model=optional("string"),
    running="boolean",
    total="integer",
    done="integer",
    failed="integer",
    error="string",
)
REEMBED = (
    "Searching compares only vectors of the same model. After another embedder was configured (services.embedder), "
    "this writes every text again whose vector is of another model or missing, in the background; called again it "
    "tells how far that is. Who wrote a text, and when, is kept, and it says who has written it again."
)
