"""Gradients of TensorArray ops: reads become writes to the gradient's array, and the other way."""

from __future__ import annotations

from typing import Any

from minitf.gradients.registry import gradient
from minitf.operation import Operation, Tensor
from minitf.ops.tensor_array import TensorArray


def _source(tensor: Tensor) -> str:
    """Which tf.gradients call this is: each has an array of its own for the gradients."""
    parts = tensor.name.split("/")
    found = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not found:
        raise ValueError(
            "Expected op/tensor name to start with gradients (excluding scope), got: "
            f"{tensor.name}. Give tf.gradients a name that starts with 'gradients'."
        )
    return "/".join(parts[: found[-1] + 1])


def _array(op: Operation, dtype: Any, flow: Tensor, grad: Tensor) -> TensorArray:
    own = TensorArray(
        dtype=dtype, handle=op._inputs[0], flow=flow, colocate_with_first_write_call=False
    )
    return own.grad(source=_source(grad), flow=flow)


@gradient("TensorArrayReadV3")
def read_grad(op: Operation, grad: Any) -> Any:
    array = _array(op, op.get_attr("dtype"), op._inputs[2], grad)
    return None, None, array.write(op._inputs[1], grad).flow


@gradient("TensorArrayWriteV3")
def write_grad(op: Operation, flow: Any) -> Any:
    array = _array(op, op.get_attr("T"), flow, flow)
    return None, None, array.read(op._inputs[1]), flow


@gradient("TensorArrayGatherV3")
def gather_grad(op: Operation, grad: Any) -> Any:
    array = _array(op, op.get_attr("dtype"), op._inputs[2], grad)
    return None, None, array.scatter(op._inputs[1], grad).flow


@gradient("TensorArrayScatterV3")
def scatter_grad(op: Operation, flow: Any) -> Any:
    array = _array(op, op.get_attr("T"), flow, flow)
    return None, None, array.gather(op._inputs[1]), flow


@gradient("TensorArrayConcatV3")
def concat_grad(op: Operation, grad: Any, _: Any) -> Any:
    array = _array(op, op.get_attr("dtype"), op._inputs[1], grad)
    return None, array.split(grad, lengths=op.outputs[1]).flow


@gradient("TensorArraySplitV3")
def split_grad(op: Operation, flow: Any) -> Any:
    array = _array(op, op.get_attr("T"), flow, flow)
    return None, array.concat(), None, flow
