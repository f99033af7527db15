"""An independent implementation to agree with: the reference evaluator of the ONNX operator `Attention`."""

import math

from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator


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
