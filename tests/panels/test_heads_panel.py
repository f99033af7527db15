"""The panel of notebook 07: number of heads, construction, merge, and the learner's own function."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import explore
from course_lib.attention import scores, self_attention, softmax
from course_lib.heads import merge_heads, multi_head_attention, split_heads

RNG = np.random.default_rng(0)
X, (W_q, W_k, W_v), W_o = RNG.normal(size=(4, 5)), RNG.normal(size=(3, 5, 6)), RNG.normal(size=(6, 7))
ONE = self_attention(X, W_q, W_k, W_v, scaled=False)
TOKENS = ["I", "saw", "a", "<saw>"]
MERGES = ["concat + W_o", "add scores", "mix scores"]


def build(attend=multi_head_attention, tokens=TOKENS):
    return explore.heads(tokens, X, W_q, W_k, W_v, W_o, attend)


@pytest.fixture
def panel():
    return build()


def look(panel):
    return panel._html.value


def titles(panel):
    return re.findall("<figcaption>(.*?)</figcaption>", look(panel))


@pytest.mark.parametrize("h", [1, 2, 3])
def test_outputs_merged_have_a_map_for_each_head(panel, h):
    panel.controls["heads"].value = h
    maps = panel.state["maps"]
    slices = [np.split(X @ W, h, axis=1) for W in (W_q, W_k, W_v)]
    mixed = []
    for q, k, v, weights in zip(*slices, maps):
        powers = np.exp(q @ k.T)  # not scaled
        np.testing.assert_allclose(weights, powers / powers.sum(axis=1, keepdims=True))
        mixed.append(weights @ v)
    np.testing.assert_allclose(panel.state["output"], np.concatenate(mixed, axis=1) @ W_o)
    assert len(maps) == h and f"{h} map" in panel.status and ("maps" in panel.status) == (h > 1)
    assert titles(panel) == [f"α′ of head {i}" for i in range(1, h + 1)]


@pytest.mark.parametrize("h", [1, 2, 3])
def test_slices_with_added_scores_are_one_head(panel, h):
    panel.set({"heads": h, "merge": "add scores"})
    np.testing.assert_allclose(panel.state["maps"][0], ONE.weights)
    np.testing.assert_allclose(panel.state["output"], ONE.output @ W_o)
    assert panel.status == "1 map, exactly one head made with W_q and W_k"
    assert titles(panel) == ["α′ of one map: add scores"] and look(panel).count(" alone</caption>") == h


@pytest.mark.parametrize(
    "split, merge", [("matrices", "add scores"), ("slices", "mix scores"), ("matrices", "mix scores")]
)
def test_other_merges_of_scores_are_another_map_but_one(panel, split, merge):
    panel.set({"split": split, "merge": merge})
    assert panel.state["maps"].shape == (1, 4, 4) and panel.state["heads"].shape == (2, 4, 4)
    off = np.abs(panel.state["maps"][0] - ONE.weights).max()
    assert panel.state["off"] == pytest.approx(off) and off > 0.05
    assert f"up to {off:.2f} from one head" in panel.status


@pytest.mark.parametrize("h", [1, 2, 3])
def test_scores_are_mixed_as_the_notebook_says(panel, h):
    panel.set({"heads": h, "merge": "mix scores"})
    alphas = scores(*(np.stack(np.split(X @ W, h, axis=1)) for W in (W_q, W_k)), scaled=False)
    mixed = sum(share * alpha for share, alpha in zip([1, -1 / 2, 1 / 4], alphas))
    np.testing.assert_allclose(panel.state["maps"][0], softmax(mixed))


@given(st.integers(1, 3), st.sampled_from(["slices", "matrices"]), st.sampled_from(MERGES))
def test_all_that_is_drawn_is_said_and_shown(h, split, merge):
    panel = build()
    panel.set({"heads": h, "split": split, "merge": merge})
    state, said = panel.state, re.findall('aria-label="(.*?)"', look(panel))
    np.testing.assert_allclose(state["maps"].sum(axis=-1), 1)
    assert len(said) == len(state["maps"]) == (h if merge == "concat + W_o" else 1)
    for words, weights in zip(said, state["maps"]):
        assert f"2 saw: 1 I {weights[1, 0]:.2f}, 2 saw {weights[1, 1]:.2f}" in words
    cells = re.findall(r">(-?\d+\.\d\d)</td>", look(panel))
    assert cells[-28:] == [f"{x + 0.0:.2f}" for x in np.round(state["output"], 2).ravel() + 0.0]


def test_the_variants_are_those_of_the_notebooks_table():
    """The notebook runs up to its panel: names and numbers of its table are those of the panel."""
    path = Path(__file__).resolve().parents[2] / "notebooks/07_multi_head.ipynb"
    cells = [
        "".join(cell["source"])
        for cell in json.loads(path.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    live = next(i for i, cell in enumerate(cells) if "explore.heads(" in cell)
    known = {}
    for cell in cells[:live]:
        exec(cell, known)
    panel = eval(cells[live], known)
    assert len(known["rows"]) == 6
    for name, (maps, off) in known["rows"].items():
        split, merge = name.split(", ")
        panel.set({"heads": 2, "split": split, "merge": merge})
        assert len(panel.state["maps"]) == maps
        assert panel.state["off"] == pytest.approx(off, abs=1e-12)


def test_reset_gives_the_same_text(panel):
    begun = look(panel)
    panel.controls["heads"].value = 3
    panel.controls["merge"].value = "mix scores"
    assert look(panel) != begun
    panel.reset()
    assert look(panel) == begun


def mine(X, W_q, W_k, W_v, W_o, n_heads):  # the answer of notebook 07
    Q, K, V = (split_heads(X @ W, n_heads) for W in (W_q, W_k, W_v))
    return merge_heads(softmax(scores(Q, K)) @ V) @ W_o


@pytest.mark.parametrize("split", ["slices", "matrices"])
@pytest.mark.parametrize("h", [1, 2, 3])
def test_a_right_function_of_the_learner_gives_the_librarys_output_and_is_named(panel, h, split):
    for each in (panel, theirs := build(mine)):
        each.set({"heads": h, "split": split})
    np.testing.assert_allclose(theirs.state["output"], panel.state["output"])
    assert "the output of your function is equal to the library's" in theirs.status
    assert "output of your function</caption>" in look(theirs)
    assert "your function" not in look(panel)
    theirs.controls["merge"].value = "add scores"
    assert "your function" not in look(theirs)  # nor does it make the output of merged scores


def test_a_wrong_function_of_the_learner_is_shown_with_how_far_it_is_off(panel):
    theirs = build(lambda *a: 1.5 * mine(*a))
    off = 0.5 * np.abs(panel.state["output"]).max()
    np.testing.assert_allclose(theirs.state["output"], 1.5 * panel.state["output"])
    assert f"your function is up to {off:.2f} off the library's" in theirs.status
    unscaled = build(lambda *a: multi_head_attention(*a, scaled=False))
    assert "off the library's" in unscaled.status


def test_an_attention_is_taken_for_its_output(panel):
    theirs = build(lambda *a: multi_head_attention(*a))
    np.testing.assert_allclose(theirs.state["output"], panel.state["output"])
    assert "is equal to the library's" in theirs.status


def test_a_stub_shows_the_librarys(panel):
    stub = build(lambda *a: None)
    assert "returned None" in stub.status and "the library's" in stub.status
    for each in (stub, panel):
        each.controls["heads"].value = 3
    np.testing.assert_array_equal(stub.state["output"], panel.state["output"])
    stub.controls["merge"].value = "add scores"
    assert "None" not in stub.status


def stop(*arguments):
    raise SystemExit("<img src=x>")


WRONG = {
    "a list of heads": (lambda *a: np.ones((2, 4, 3)), "is (2, 4, 3), it should be (4, 7)"),
    "nan": (lambda *a: np.full((4, 7), np.nan), "not finite"),
    "complex": (lambda *a: np.full((4, 7), 1j), "not finite numbers"),
    "raises": (lambda *a: 1 / 0, "ZeroDivisionError"),
    "ends Python": (stop, "SystemExit"),
}


@pytest.mark.parametrize("attend, says", WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_learners_function_is_said_beside_the_last_good_picture(panel, attend, says):
    theirs = build(attend)
    for h in (2, 3):
        theirs.controls["heads"].value = h
        assert says in theirs.status and "<img" not in look(theirs)
        np.testing.assert_array_equal(theirs.state["output"], panel.state["output"])
    theirs.controls["merge"].value = "add scores"
    assert says not in theirs.status and theirs.state["maps"].shape == (1, 4, 4)


def test_a_learners_function_cannot_change_what_it_is_given(panel):
    def rude(*arguments):
        output = mine(*arguments)
        for each in arguments[:5]:
            each[:] = 5
        print("<i>")
        return output

    theirs = build(rude)
    theirs.controls["heads"].value = panel.controls["heads"].value = 3
    np.testing.assert_allclose(theirs.state["output"], panel.state["output"])
    assert "<pre>&lt;i&gt;" in look(theirs)


def test_words_are_text_and_controls_have_names(panel):
    assert "<saw>" not in look(panel) and "4 &lt;saw&gt;" in look(panel)
    assert all(control.tooltip for control in panel.controls.values())


@pytest.mark.parametrize("n, d, wide", [(1, 5, 6), (5, 5, 6), (4, 5, 4), (3, 6, 6)])
def test_what_does_not_fit_is_said_with_its_shapes(n, d, wide):
    with pytest.raises(ValueError) as error:
        explore.heads(["w"] * n, X[:n] if n < 4 else np.ones((n, 5)), *np.ones((3, d, wide)), W_o)
    assert f"not {n} tokens with ({n}, 5), ({d}, {wide})" in str(error.value)


def test_a_matrix_of_outputs_that_does_not_fit_is_said_with_its_shape():
    with pytest.raises(ValueError, match=r"\(4, 6\) @ \(5, 7\)"):
        explore.heads(TOKENS, X, W_q, W_k, W_v, np.ones((5, 7)))


@pytest.mark.parametrize("n", [2, 3])
def test_fewer_words_fit(n):
    panel = explore.heads(TOKENS[:n], X[:n], W_q, W_k, W_v, W_o)
    assert panel.state["maps"].shape == (2, n, n) and panel.state["output"].shape == (n, 7)
