"""The forward pass of all-MiniLM-L6-v2 in numpy: a BERT of six layers, the mean of its last states, normalised.

It gives what torch gives, up to the last digits, without 5 GB of packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from covey.mesh.services.embedding.numeric import numpy

if TYPE_CHECKING:
    from pathlib import Path

MOST_TOKENS: Final = 256
"""What the model was made for; of a longer text the beginning counts."""
MOST_CHARACTERS: Final = 8_192
LAYERS: Final = 6
HEADS: Final = 12
_EPSILON: Final = 1e-12


class MiniLM:
    """The weights and the tokenizer, and the pass through the layers."""

    def __init__(self, weights: Path, tokenizer: Path) -> None:
        """Raises OSError or ImportError if they cannot be read."""
        self._np = numpy()
        from safetensors.numpy import load_file  # noqa: PLC0415 - as numpy
        from tokenizers import Tokenizer  # noqa: PLC0415 - as numpy

        self._weights = load_file(weights)
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(MOST_TOKENS)

    def numbers(self, text: str) -> Any:
        """Return the normalised mean of the last states of all tokens."""
        np, weights = self._np, self._weights
        tokens = self._tokenizer.encode(text[:MOST_CHARACTERS]).ids
        state = (
            weights["embeddings.word_embeddings.weight"][tokens]
            + weights["embeddings.position_embeddings.weight"][: len(tokens)]
            + weights["embeddings.token_type_embeddings.weight"][0]
        )
        state = self._normalised(state, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            attended = self._dense(self._attention(state, f"{name}.attention.self"), f"{name}.attention.output.dense")
            state = self._normalised(state + attended, f"{name}.attention.output.LayerNorm")
            inner = self._gelu(self._dense(state, f"{name}.intermediate.dense"))
            state = self._normalised(state + self._dense(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        mean = state.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _dense(self, state: Any, name: str) -> Any:
        return state @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalised(self, state: Any, name: str) -> Any:
        centred = state - state.mean(axis=-1, keepdims=True)
        variance = (centred * centred).mean(axis=-1, keepdims=True)
        scaled = centred / self._np.sqrt(variance + _EPSILON)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _attention(self, state: Any, name: str) -> Any:
        np = self._np
        length, width = state.shape
        query, key, value = (
            self._dense(state, f"{name}.{part}").reshape(length, HEADS, width // HEADS).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(np.float32(width // HEADS))
        weighted = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weighted /= weighted.sum(axis=-1, keepdims=True)
        return (weighted @ value).transpose(1, 0, 2).reshape(length, width)

    def _gelu(self, state: Any) -> Any:
        """Return x * (1 + erf(x / sqrt 2)) / 2, with erf after Abramowitz and Stegun 7.1.26 (error below 2e-7)."""
        np = self._np
        scaled = np.abs(state) * np.float32(0.7071067811865476)
        step = 1 / (1 + np.float32(0.3275911) * scaled)
        polynomial = np.float32(1.061405429)
        for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
            polynomial = polynomial * step + np.float32(coefficient)
        erf = np.sign(state) * (1 - polynomial * step * np.exp(-scaled * scaled))
        return state * (1 + erf) * np.float32(0.5)
