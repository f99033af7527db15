"""The panel of notebook 07: number of heads, construction, merge."""

import numpy as np
import pytest

from course_lib import explore
from course_lib.attention import self_attention

RNG = np.random.default_rng(0)
X, (W_q, W_k, W_v), W_o = RNG.normal(size=(4, 5)), RNG.normal(size=(3, 5, 6)), RNG.normal(size=(6, 7))
ONE = self_attention(X, W_q, W_k, W_v, scaled=False)


@pytest.fixture
def panel():
    return explore.heads(["I", "saw", "a", "<saw>"], X, W_q, W_k, W_v, W_o)


def look(panel):
    return bytes(panel.picture.value), panel.tables.value, panel.status.value


@pytest.mark.parametrize("h", [1, 2, 3])
def test_outputs_merged_have_a_map_for_each_head(panel, h):
    panel.sliders["heads"].value = h
    assert panel.state["maps"].shape == panel.state["heads"].shape == (h, 4, 4)
    values = np.split(X @ W_v, h, axis=1)
    mixed = np.concatenate([weights @ part for weights, part in zip(panel.state["maps"], values)], axis=1)
    np.testing.assert_allclose(panel.state["output"], mixed @ W_o)
    assert f"{h} map" in panel.status.value


@pytest.mark.parametrize("h", [1, 2, 3])
def test_slices_with_added_scores_are_one_head(panel, h):
    panel.set({"heads": h, "merge": "add scores"})
    np.testing.assert_allclose(panel.state["maps"][0], ONE.weights)
    np.testing.assert_allclose(panel.state["output"], ONE.output @ W_o)
    assert "1 map for" in panel.status.value and "exactly one-head" in panel.status.value


@pytest.mark.parametrize(
    "split, merge", [("matrices", "add scores"), ("slices", "mix scores"), ("matrices", "mix scores")]
)
def test_other_merges_of_scores_are_another_map_but_one(panel, split, merge):
    panel.set({"split": split, "merge": merge})
    assert panel.state["maps"].shape == (1, 4, 4) and panel.state["heads"].shape == (2, 4, 4)
    assert panel.state["off"] > 0.05 and "exactly" not in panel.status.value


def test_reset_gives_the_same_bytes(panel):
    begun = look(panel)
    panel.sliders["heads"].value = 3
    panel.sliders["merge"].value = "mix scores"
    assert all(now != then for now, then in zip(look(panel), begun))
    panel.reset()
    assert look(panel) == begun


def test_size_labels_and_escapes(panel):
    assert int(panel.layout.height.removesuffix("px")) <= 560
    assert all(control.description for control in panel.sliders.values())
    assert "<saw>" not in panel.tables.value
