"""Static embeddings: the mean of the vectors of a text's tokens. The weights are those of WordLlama, read directly.

Its own code is not used: it looks for the tokenizer in a folder that its package does not have, and would download it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from covey.mesh.services.embedding.numeric import numpy

if TYPE_CHECKING:
    from pathlib import Path

MOST_CHARACTERS = 32_768


class StaticVectors:
    """The vectors of 32,000 tokens, and the tokenizer that belongs to them."""

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        """Raises OSError or ImportError if they cannot be read."""
        self._np = numpy()
        from safetensors.numpy import load_file  # noqa: PLC0415 - as numpy
        from tokenizers import Tokenizer  # noqa: PLC0415 - as numpy

        self._vectors = load_file(weights)["embedding.weight"]
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def numbers(self, text: str) -> Any:
        """Return the normalised mean of the vectors of the tokens."""
        np = self._np
        tokens = self._tokenizer.encode(text[:MOST_CHARACTERS], add_special_tokens=False).ids
        if not tokens:
            return np.zeros(self._vectors.shape[1], np.float32)
        mean = self._vectors[tokens].mean(axis=0, dtype=np.float32)
        length = np.linalg.norm(mean)
        return mean / length if length else mean
