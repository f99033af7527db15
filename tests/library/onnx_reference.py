"""Independent implementations to agree with: the reference evaluator of ONNX, for `Attention` and `RNN`."""

import math

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

DIRECTIONS = {1: "forward", 2: "bidirectional"}


def attention(Q, K, V, *, mask=None, scaled=True):
    """Output and weights for float32 Q (B, h, n_q, d_k), K and V (B, h, n_k, .), mask as in course_lib."""
    names = ["Q", "K", "V"] + (["mask"] if mask is not None else [])
    node = helper.make_node(
        "Attention",
        names,
        ["Y", "", "", "weights"],
        qk_matmul_output_mode=3,
        scale=1 / math.sqrt(Q.shape[-1]) if scaled else 1.0,
    )
    kinds = {"mask": TensorProto.BOOL}
    inputs = [helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), None) for name in names]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("Y", "weights")]
    model = helper.make_model(
        helper.make_graph([node], "attention", inputs, outputs), opset_imports=[helper.make_opsetid("", 23)]
    )
    feeds = dict(zip(names, (Q, K, V, mask)))
    return ReferenceEvaluator(model).run(None, feeds)


def rnn(X, *pairs):
    """States (n, B, directions, d_h) of float32 X (n, B, d), and W_x, W_h of one or two directions."""
    W, R = (np.stack([pair[i].T for pair in pairs]) for i in (0, 1))  # the operator takes columns
    node = helper.make_node(
        "RNN", ["X", "W", "R"], ["Y", "last"], hidden_size=R.shape[-1], direction=DIRECTIONS[len(pairs)]
    )
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "XWR"]
    outputs = [helper.make_tensor_value_info("Y", TensorProto.FLOAT, None)]
    model = helper.make_model(
        helper.make_graph([node], "rnn", inputs, outputs), opset_imports=[helper.make_opsetid("", 22)]
    )
    return ReferenceEvaluator(model).run(None, {"X": X, "W": W, "R": R})[0].swapaxes(1, 2)
