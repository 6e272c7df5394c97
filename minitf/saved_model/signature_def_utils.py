"""tf.saved_model.signature_def_utils: SignatureDefs, which say how a model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitf.operation import Tensor
from minitf.proto.meta_graph import SignatureDef, TensorInfo
from minitf.saved_model import signature_constants as names
from minitf.saved_model.utils import build_tensor_info
from minitf_runtime.types import DType, float32, string

__all__ = [
    "build_signature_def",
    "classification_signature_def",
    "is_valid_signature",
    "predict_signature_def",
    "regression_signature_def",
]


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:
    return SignatureDef(inputs=inputs, outputs=outputs, method_name=method_name)


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """For tensors of any kind. Raises ValueError if there are none."""
    for what, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"Prediction {what} cannot be None or empty.")
    return build_signature_def(
        {key: build_tensor_info(tensor) for key, tensor in inputs.items()},
        {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
        names.PREDICT_METHOD_NAME,
    )


def regression_signature_def(examples: Any, predictions: Any) -> SignatureDef:
    """From strings, the examples, to float32. Raises ValueError for other tensors."""
    examples = _examples("Regression", examples)
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    told = _typed("Regression output", "float", float32, predictions)
    return build_signature_def(
        {names.REGRESS_INPUTS: examples},
        {names.REGRESS_OUTPUTS: told},
        names.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> SignatureDef:
    """From strings, the examples, to names of classes (strings), or scores (float32), or both.

    Raises ValueError for other tensors.
    """
    examples = _examples("Classification", examples)
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _typed(
            "Classification classes", "string", string, classes
        )
    if scores is not None:
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _typed(
            "Classification scores", "float", float32, scores
        )
    return build_signature_def(
        {names.CLASSIFY_INPUTS: examples}, outputs, names.CLASSIFY_METHOD_NAME
    )


def _examples(what: str, examples: Any) -> TensorInfo:
    if examples is None:
        raise ValueError(f"{what} examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError(f"{what} examples must be a string Tensor.")
    return _typed(f"{what} examples", "string", string, examples)


def _typed(what: str, kind: str, dtype: DType, tensor: Any) -> TensorInfo:
    if tensor.dtype is not dtype:
        raise ValueError(f"{what} must be a {kind} Tensor.")
    return build_tensor_info(tensor)


_OUTPUTS = {  # method: the outputs it may have, with their types
    names.REGRESS_METHOD_NAME: {names.REGRESS_OUTPUTS: float32},
    names.CLASSIFY_METHOD_NAME: {
        names.CLASSIFY_OUTPUT_CLASSES: string,
        names.CLASSIFY_OUTPUT_SCORES: float32,
    },
}


def is_valid_signature(signature_def: SignatureDef | None) -> bool:
    """Whether a server can serve it."""
    if signature_def is None or not signature_def.inputs or not signature_def.outputs:
        return False
    inputs, outputs = dict(signature_def.inputs), dict(signature_def.outputs)
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return True
    allowed = _OUTPUTS.get(signature_def.method_name)
    if allowed is None:
        return False
    if list(inputs) != [names.REGRESS_INPUTS] or inputs[names.REGRESS_INPUTS].dtype != string:
        return False
    return all(key in allowed and info.dtype == allowed[key] for key, info in outputs.items())
