"""The embedders give what the programs of their weights give, and load nothing but the weights that are known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from covey.mesh.services.embedding import embedder
from covey.mesh.services.embedding.embedder import MINILM, STATIC, TIERS, EmbedderUnavailable, is_installed, load
from covey.mesh.services.embedding.embedding import Embedding
from covey.mesh.services.embedding.stored_vector import is_sound

needs = {
    name: pytest.mark.skipif(not is_installed(tier), reason=f"the embedder {name} is not installed")
    for name, tier in TIERS.items()
}


@needs[MINILM]
def test_minilm_gives_what_sentence_transformers_gives() -> None:
    """The numbers are those published for the two example sentences of the model; torch was not run for them."""
    model = load(TIERS[MINILM])
    first, second = model.numbers("This is an example sentence"), model.numbers("Each sentence is converted")
    assert first[:5] == pytest.approx([0.0676569, 0.0634959, 0.0487131, 0.0793049, 0.0374480], abs=2e-6)
    assert second[:2] == pytest.approx([0.0864386, 0.1027627], abs=2e-6)
    assert float(first @ first) == pytest.approx(1, abs=1e-5)


@needs[STATIC]
def test_static_vectors_give_what_wordllama_gives() -> None:
    """The numbers are those of `WordLlama.embed(…, norm=True)` and `.similarity`, version 0.4.0.post1."""
    model = load(TIERS[STATIC])
    passkey = model.numbers("Users sign in with a passkey")
    assert passkey[:4] == pytest.approx([0.05244222, 0.00577392, 0.0570856, 0.07642775], abs=1e-6)
    assert float(passkey @ model.numbers("login and authentication")) == pytest.approx(0.32443252, abs=1e-6)


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs[name]) for name in TIERS])
async def test_any_text_has_a_sound_vector(name: str) -> None:
    embedding = Embedding(lambda: name)
    for text in ("", " \n", "\0", "🐦", "word " * 9000, "\ud800"):
        vector = (await embedding.embed(text)).stored
        assert vector is not None
        assert is_sound(vector, {TIERS[name].model: TIERS[name].dimensions})


@needs[STATIC]
def test_weights_with_another_hash_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "_loaded", {})
    with pytest.raises(EmbedderUnavailable, match="not the expected ones"):
        load(TIERS[STATIC]._replace(sha256="0" * 64))


async def test_an_embedder_that_is_configured_and_missing_is_told_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedder, "_loaded", {})
    monkeypatch.setitem(TIERS, MINILM, TIERS[MINILM]._replace(package="no_such_package"))
    told = await Embedding(lambda: MINILM).embed("x")
    assert told.stored is None
    assert "covey[minilm]" in told.note


def test_a_peer_that_does_not_search_by_meaning_does_not_import_numpy() -> None:
    code = "import sys, covey.mesh.services.services; print(sorted({'numpy', 'tokenizers'} & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert ran.stdout.strip() == "[]"
