"""The panel of notebook 07: several heads, and ways to put them together."""

import functools

import numpy as np

from course_lib import show
from course_lib.attention import Attention, softmax, weighted_sum
from course_lib.explore.panel import Panel, View, checked, choice, labels, slider
from course_lib.heads import add_scores, merge_heads, mix_scores, multi_head_attention

MERGES = {
    "concat + W_o": None,  # each head's own softmax, and then the learner's function
    "add scores": add_scores,
    "mix scores": lambda alphas: mix_scores(alphas, [1, -0.5, 0.25][: len(alphas)]),
}


def heads(tokens, X, W_q, W_k, W_v, W_o, attend=multi_head_attention):
    """Choose the number of heads, how q, k, v are split and how the heads are merged; see every map.

    tokens: 2 to 4 of them, X (n, d), W_q, W_k and W_v (d, 6), W_o (6, d_out). The scores are not divided by
    sqrt(d_k). attend(X, W_q, W_k, W_v, W_o, n_heads) -> output (n, d_out), or an Attention with it: makes the
    output of concat + W_o; it divides its scores by sqrt(d_k), so it is given W_q times sqrt(d_k).
    ->  Panel whose state is {"heads": (h, n, n) each head's own weights, "maps": (m, n, n) those that make
        the output, "output": (n, d_out), "off": how far the maps are from one-head attention}
    ValueError for other numbers of tokens or features.
    """
    X, *W, W_o = (np.array(each, dtype=float) for each in (X, W_q, W_k, W_v, W_o))
    n, shapes = len(tokens), [each.shape for each in (X, *W)]
    if not 2 <= n <= 4 or X.ndim != 2 or shapes != [(n, X.shape[1]), *3 * [(X.shape[1], 6)]]:
        raise ValueError(
            "this panel has room for 2 to 4 tokens, X (n, d) and W_q, W_k, W_v (d, 6), "
            f"not {n} tokens with {', '.join(map(str, shapes))}"
        )
    one = multi_head_attention(X, *W, W_o, n_heads=1, scaled=False).weights
    names, numbers = labels(tokens), [str(i) for i in range(1, n + 1)]

    def matrices(split, h):
        """W_q, W_k and W_v of all heads side by side, (d, 6) each: a slice is a head's own."""
        if split == "slices":
            return W
        M = np.random.default_rng(0).normal(size=(h, 6, 6 // h)) / 2  # one a head; k takes them backwards
        return [each @ np.hstack([*own]) for each, own in zip(W, (M, M[::-1], M))]

    def view(values, attend=attend):
        h, merge = values["heads"], MERGES[values["merge"]]
        W_q, W_k, W_v = matrices(values["split"], h)
        found = multi_head_attention(X, W_q, W_k, W_v, W_o, h, scaled=False)
        if merge is None:
            maps, root = found.weights, np.sqrt(6 // h)
            output = attend(X.copy(), W_q * root, W_k.copy(), W_v.copy(), W_o.copy(), h)
            output = output.output if isinstance(output, Attention) else output
            output = checked("output", output, found.output.shape)
        else:
            maps = softmax(merge(found.scores))[None]  # one map, for the values of every head
            output = merge_heads(weighted_sum(np.broadcast_to(maps, found.weights.shape), found.V)) @ W_o
        off = np.abs(maps - one).max()
        how = "exactly" if off < 1e-12 else f"up to {show.number_text(off)} from"
        note = f"{len(maps)} map{'s' * (len(maps) > 1)}, {how} one head made with W_q and W_k"
        owner = ""
        if merge is None and attend is not multi_head_attention:
            owner, wrong = " of your function", np.abs(output - found.output).max()
            miss = "equal to" if wrong < 1e-9 else f"up to {show.number_text(wrong)} off"
            note += f"; the output{owner} is {miss} the library's"
        alone = [f"α′ of head {i}{' alone' if merge else ''}" for i in range(1, h + 1)]
        titles = alone if merge is None else [f"α′ of one map: {values['merge']}"]
        tables = [*zip(found.weights, alone), *(zip(maps, titles) if merge else [])]
        drawn = [show.links(weights, names, names, title) for weights, title in zip(maps, titles)]
        tables = [show.table(each, names, numbers, caption=of, kind="weights") for each, of in tables]
        tables.append(show.table(output, names, caption=f"output{owner}"))
        seen = show.stacked(show.side_by_side(*drawn), show.side_by_side(*tables))
        return View({"heads": found.weights, "maps": maps, "output": output, "off": off}, seen, note)

    controls = {
        "heads": slider("heads", 1, 3, 1, 2),
        "split": choice("split by", ["slices", "matrices"]),
        "merge": choice("merge by", [*MERGES]),
    }
    return Panel("Heads", controls, view, standard=functools.partial(view, attend=multi_head_attention))
