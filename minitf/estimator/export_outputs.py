"""What a served model gives: the outputs of tf.estimator.export, and the signatures they make."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from minitf import tf_logging
from minitf.operation import Tensor
from minitf.proto.meta_graph import SignatureDef
from minitf.saved_model.signature_constants import (
    CLASSIFY_METHOD_NAME,
    DEFAULT_SERVING_SIGNATURE_DEF_KEY,
    PREDICT_METHOD_NAME,
    REGRESS_METHOD_NAME,
)
from minitf.saved_model.signature_def_utils import (
    classification_signature_def,
    is_valid_signature,
    predict_signature_def,
    regression_signature_def,
)
from minitf_runtime.types import string

_METHODS = {
    "Classify": CLASSIFY_METHOD_NAME,
    "Regress": REGRESS_METHOD_NAME,
    "Predict": PREDICT_METHOD_NAME,
}


class ExportOutput(ABC):
    """An output of a model that can be served."""

    @abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        """How the model is asked for it, by those tensors."""


class ClassificationOutput(ExportOutput):
    """Scores (floating), names of classes (strings), or both. Raises ValueError for others."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not _is_floating(scores):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype == string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self) -> Any:
        return self._scores

    @property
    def classes(self) -> Any:
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        examples = _examples("Classification", receiver_tensors)
        return classification_signature_def(examples, self._classes, self._scores)


class RegressionOutput(ExportOutput):
    """A floating tensor. Raises ValueError for others."""

    def __init__(self, value: Any) -> None:
        if not _is_floating(value):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return regression_signature_def(_examples("Regression", receiver_tensors), self._value)


class PredictOutput(ExportOutput):
    """A tensor, called 'output', or a dict of tensors. Raises ValueError for others."""

    def __init__(self, outputs: Any) -> None:
        by_name = outputs if isinstance(outputs, dict) else {"output": outputs}
        self._outputs = {}
        for key, value in by_name.items():
            name = "/".join(key) if isinstance(key, tuple) else key
            if not isinstance(name, str):
                raise ValueError(f"Prediction output key must be a string; got {name}.")
            if not isinstance(value, Tensor):
                raise ValueError(f"Prediction output value must be a Tensor; got {value}.")
            self._outputs[name] = value

    @property
    def outputs(self) -> dict[str, Tensor]:
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> SignatureDef:
        return predict_signature_def(receiver_tensors, self._outputs)


def _is_floating(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype.is_floating


def _examples(what: str, receiver_tensors: Mapping[str, Any]) -> Any:
    """The only input, which must be strings."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tensors[0].dtype != string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")
    return tensors[0]


def with_default_output(outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs given, or the predictions, one of them under the key that servers ask for.

    Raises TypeError for what is no output, ValueError for several without a default.
    """
    key = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if outputs is None:
        return {key: PredictOutput(predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {outputs}")
    if not all(isinstance(output, ExportOutput) for output in outputs.values()):
        raise TypeError(f"Values in export_outputs must be ExportOutput objects. Given: {outputs}")
    if len(outputs) > 1 and key not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default. "
            " Do this by naming one of them with "
            "signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY."
        )
    for output in list(outputs.values())[:1]:
        outputs.setdefault(key, output)
    return outputs


def signatures(
    receiver_tensors: Mapping[str, Any],
    outputs: Mapping[str, ExportOutput],
    alternatives: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, SignatureDef]:
    """The signatures that can be served, by name; logs which those are and which are not."""
    made, excluded = {}, {}
    asked = {"": receiver_tensors}
    asked.update({f"{name or 'None'}:": tensors for name, tensors in (alternatives or {}).items()})
    for prefix, tensors in asked.items():
        for key, output in outputs.items():
            name = f"{prefix}{key or 'None'}"
            try:
                made[name] = output.as_signature_def(tensors)
            except ValueError as e:
                excluded[name] = str(e)
    _report(made, excluded)
    return {name: signature for name, signature in made.items() if is_valid_signature(signature)}


def _report(made: Mapping[str, SignatureDef], excluded: Mapping[str, str]) -> None:
    for method, method_name in _METHODS.items():
        names = [name for name, signature in made.items() if signature.method_name == method_name]
        tf_logging.info("Signatures INCLUDED in export for %s: %s", method, names or None)
    if excluded:
        tf_logging.info(
            "Signatures EXCLUDED from export because they cannot be be served via TensorFlow "
            "Serving APIs:"
        )
    for name, why in excluded.items():
        tf_logging.info("'%s' : %s", name, why)
    if not made:
        tf_logging.warning("Export includes no signatures!")
    elif DEFAULT_SERVING_SIGNATURE_DEF_KEY not in made:
        tf_logging.warning("Export includes no default signature!")
