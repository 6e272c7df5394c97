"""Every op is declared as in TensorFlow 1.15, and has a gradient where it has one there."""

from __future__ import annotations

from typing import Any

import pytest

from minitf.gradients.registry import all_gradients
from minitf_runtime.ops.registry import OPS, REQUIRED, Arg, Attr
from minitf_runtime.types import DType
from ops.recorded import DEFINITIONS, load

GRADIENTS = all_gradients()
RECORDED = load(DEFINITIONS)
PUBLIC = [name for name in OPS if not name.startswith("_")]
# Functions that give no gradient for any input count as "none" here.
NOTHING = "Floor Ceil Rint Round FloorDiv TruncateDiv ArgMax ArgMin".split()
ON_A_STATE = ("TensorArray", "Stack")  # the state is the resource's: these ops have none themselves
# Attributes whose choices are not TensorFlow's, and how.
OTHER_CHOICES = {
    "OnesLike.T": "unsigned types too",
    "LeakyRelu.T": "no default",
    "LeakyReluGrad.T": "no default",
    "MaxPoolV2.T": "as for MaxPool",
    "MaxPoolV2.data_format": "as for MaxPool",
    "HistogramSummary.T": "every real type",
    "MaxPool.data_format": "no NCHW_VECT_C: there are no quantized types",
    "Reverse.T": "every type",
    "ReverseV2.T": "every type",
    "ResourceScatterMax.dtype": "what has an order",
    "ResourceScatterMin.dtype": "what has an order",
    "ResourceScatterNdAdd.T": "numbers",
    "ResourceScatterNdSub.T": "numbers",
    "SerializeSparse.out_type": "variants, as datasets have them, no strings",
    "SerializeManySparse.out_type": "variants, as datasets have them, no strings",
    "DeserializeSparse.Tserialized": "variants, as datasets have them, no strings",
    "DenseToDenseSetOperation.set_operation": "the operations there are",
    "DenseToSparseSetOperation.set_operation": "the operations there are",
    "SparseToSparseSetOperation.set_operation": "the operations there are",
    "SparseAdd.Treal": "every type",
    "SparseReduceMax.T": "complex types too",
    "SparseSoftmax.T": "float16 too",
}
LEFT_OUT = {"bfloat16", "qint8", "quint8", "qint16", "quint16", "qint32", "variant"}  # types


def shown(args: tuple[Arg, ...]) -> list[str]:
    out = []
    for arg in args:
        kind = arg.list_attr or arg.type_attr or arg.dtype.name
        kind = f"Ref({kind})" if arg.is_ref else kind
        count = f"{arg.number_attr} * " if arg.number_attr else ""
        out.append(f"{arg.name}: {count}{kind}")
    return out


@pytest.mark.parametrize("name", PUBLIC)
def test_inputs_outputs_and_state(name):
    opdef, recorded = OPS[name], RECORDED[name]
    assert shown(opdef.inputs) == recorded["inputs"]
    assert shown(opdef.outputs) == recorded["outputs"]
    assert opdef.stateful or not recorded["stateful"] or name.startswith(ON_A_STATE)


def plain(value: Any) -> Any:
    """A default or a choice as it is recorded."""
    if value is REQUIRED:
        return None
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return pytest.approx(value, rel=1e-6) if isinstance(value, float) else value


@pytest.mark.parametrize("name", PUBLIC)
def test_attributes(name):
    attrs, recorded = OPS[name].attrs, RECORDED[name]["attrs"]
    assert attrs.keys() == recorded.keys()
    different = {key for key, attr in attrs.items() if differs(attr, recorded[key])}
    assert {f"{name}.{key}" for key in different} == {
        key for key in OTHER_CHOICES if key.split(".")[0] == name
    }


def differs(attr: Attr, recorded: dict[str, Any]) -> bool:
    """Whether the default (if there is one) or the choices are others than those recorded."""
    default = recorded.get("default")
    if recorded["kind"] in ("shape", "tensor"):
        default = None
    if default is not None and plain(attr.default) != default:
        return True
    allowed = {t for t in recorded.get("allowed", []) if t not in LEFT_OUT}
    return set(plain(attr.allowed)) != allowed


def gradient_of(name: str) -> str:
    if name not in GRADIENTS:
        return "missing"
    return "none" if GRADIENTS[name] is None or name in NOTHING else "some"


@pytest.mark.parametrize("name", PUBLIC)
def test_gradient(name):
    """There is one where TensorFlow has one; where it says that there is none, so do we."""
    recorded = RECORDED[name]["gradient"]
    assert gradient_of(name) == ("none" if name in NOTHING else recorded)
