"""The article's claims A7 and A9: scores become weights, by a softmax or by something else."""

import numpy as np
import pytest

from course_lib import data
from course_lib.attention import causal_mask, padding_mask, scores, self_attention, softmax
from course_lib.explore.softmax import OTHER_NORMALIZERS

rows = np.random.default_rng(0).normal(size=(1000, 4))
relu_share, sigmoid, divide = (OTHER_NORMALIZERS[name] for name in ("ReLU / sum", "sigmoid", "divide by sum"))


def order_kept(scores, weights):
    order = scores.argsort(axis=-1)
    return (np.diff(np.take_along_axis(weights, order, axis=-1)) > 0).all(axis=-1)


@pytest.fixture
def saw():
    example = data.saw()
    return self_attention(*example[2:], scaled=False)


def test_a7_scores_are_as_long_as_the_sequence_and_no_shares(saw):
    assert saw.scores[0].shape == (len(data.saw().tokens),)
    assert saw.scores.min() < 0
    assert not np.allclose(saw.scores.sum(axis=-1), 1)


def test_a7_normalised_they_are_shares_in_the_order_of_the_scores(saw):
    assert saw.weights.shape == saw.scores.shape
    assert (saw.weights > 0).all() and np.allclose(saw.weights.sum(axis=-1), 1)
    assert not np.allclose(saw.weights.sum(axis=0), 1)
    assert order_kept(rows, softmax(rows)).all()


def test_a7_a_share_is_the_value_of_a_token_for_the_query(saw):
    assert saw.weights[1].argmax() == 0  # "saw" looks at "I"
    assert np.allclose(saw.weights[1, 0] / saw.weights[1, 1], np.exp(saw.scores[1, 0] - saw.scores[1, 1]))
    by_hand = sum(share * value for share, value in zip(saw.weights[1], saw.V))
    assert np.allclose(saw.output[1], by_hand)


def test_a9_softmax_keeps_what_one_expects_of_shares():
    weights = softmax(rows)
    assert (weights > 0).all() and np.allclose(weights.sum(axis=-1), 1)
    assert order_kept(rows, weights).all()
    assert np.allclose(softmax(rows + 1000), weights)
    assert not np.allclose(softmax(2 * rows), weights)


@pytest.mark.parametrize("activation", [relu_share, sigmoid, divide])
def test_a9_another_activation_is_possible(activation):
    X = np.abs(rows[:5, :3])  # no row without a positive score
    W = np.eye(3)[:, :2]
    attention = self_attention(X, W, W, W, normalize=activation)
    assert np.allclose(attention.weights, activation(scores(X @ W, X @ W)))
    assert np.allclose(attention.output, attention.weights @ attention.V)


def test_a9_relu_forgets_order_and_can_divide_by_nothing():
    with np.errstate(invalid="ignore"):
        nothing, weights = relu_share(np.array([-0.5, -1.0, -2.0])), relu_share(rows)
    assert np.isnan(nothing).all()
    assert np.isnan(weights).any(axis=-1).mean() == pytest.approx((rows < 0).all(axis=-1).mean())
    assert 0.2 < order_kept(rows, weights).mean() < 0.4


def test_a9_sigmoid_keeps_the_order_but_shares_nothing():
    weights = sigmoid(rows)
    assert order_kept(rows, weights).all()
    assert not np.isclose(weights.sum(axis=-1), 1).any()


def test_a9_dividing_by_the_sum_explodes_and_turns_the_order_round():
    assert np.allclose(divide(np.array([0.5, -0.5, 0.01])), [50, -50, 1])
    weights = divide(rows)
    assert np.array_equal(order_kept(rows, weights), rows.sum(axis=-1) > 0)
    assert (np.abs(weights) > 1).any(axis=-1).mean() > 0.3
    assert np.allclose(divide(3 * rows), weights)  # no temperature moves it


def test_a9_the_scaling_that_the_article_leaves_out_is_a_temperature():
    X, *matrices = data.saw()[2:]
    alpha = self_attention(X, *matrices, scaled=False).scores
    d_k = matrices[0].shape[1]
    assert np.allclose(self_attention(X, *matrices).weights, softmax(alpha, temperature=np.sqrt(d_k)))
    assert not np.allclose(self_attention(X, *matrices).weights, softmax(alpha))


def test_a9_only_the_maximum_of_the_row_makes_large_scores_safe():
    large = np.array([[1000.0, 999, 998], [2, 1, 0]])
    with np.errstate(all="ignore"):
        plain, one_maximum = divide(np.exp(large)), divide(np.exp(large - large.max()))
    assert np.isnan(plain).all(axis=-1).tolist() == [True, False]
    assert np.isnan(one_maximum).all(axis=-1).tolist() == [False, True]
    assert np.allclose(softmax(large), softmax(large[1]))


def test_a9_a_causal_mask_tells_the_two_saws_apart(saw):
    causal = softmax(saw.scores, mask=causal_mask(4))
    assert np.array_equal(saw.weights[1], saw.weights[3])
    assert np.allclose(causal[[1, 3], 0], [0.881, 0.757], atol=5e-4)
    assert causal[0].tolist() == [1, 0, 0, 0]


def test_a9_padding_takes_weight_until_it_is_masked():
    X, *matrices = data.saw()[2:]
    filled = np.concatenate([X[:2], np.zeros((2, 3))])
    open_eyes = self_attention(filled, *matrices, scaled=False).weights
    masked = self_attention(filled, *matrices, scaled=False, mask=padding_mask(2, 4)).weights
    assert np.allclose(open_eyes[:2, 2:].sum(axis=-1), 0.193, atol=5e-4)
    assert (masked[:, 2:] == 0).all()
    assert np.allclose(masked[:2, :2], self_attention(X[:2], *matrices, scaled=False).weights)


def test_a9_wrong_masks_and_their_numbers(saw):
    row, seen = saw.scores[1], causal_mask(4)[1]
    right, late = softmax(row, mask=seen), softmax(row) * seen
    assert np.allclose(softmax(row * seen)[2:].sum(), 0.193, atol=5e-4)
    assert np.allclose(softmax(row + seen)[2:].sum(), 0.057, atol=5e-4)
    assert np.allclose(late.sum(), 0.860, atol=5e-4)
    assert np.allclose(late / late.sum(), right, atol=1e-15)
    assert (softmax(saw.scores, mask=~np.triu(np.ones((4, 4), bool), k=0))[0] == 0).all()


def test_a9_a_large_negative_number_is_no_mask_where_everything_is_hidden(saw):
    row = saw.scores[1]
    assert np.allclose(softmax(row - 1e9), softmax(row), atol=1e-6)
    assert np.allclose(softmax(row.astype("float32") - np.float32(1e9)), 0.25)
    assert np.allclose(softmax(np.full(4, -1e9)), 0.25)
    assert softmax(row, mask=np.full(4, False)).tolist() == [0, 0, 0, 0]
