"""What a Saver saves: variables, and slices of them, as tensors with a name in the checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from minitf.convert import to_tensor
from minitf.default import device
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.shapes import reshape
from minitf.ops.state import assign
from minitf.variables import Variable
from minitf.variables.partitioned import PartitionedVariable
from minitf.variables.resource import BaseResourceVariable
from minitf_runtime.types import DType

_REF_OPS = ("Variable", "VariableV2")
_RESOURCE_OPS = ("VarHandleOp", "ReadVariableOp")


class SaveSpec:
    """One tensor to save, or a function that makes it, the slice that it is, and its name."""

    def __init__(
        self,
        tensor: Any,
        slice_spec: str,
        name: str,
        dtype: DType | None = None,
        device: str | None = None,
    ) -> None:
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        self.dtype = (tensor.dtype if dtype is None else dtype).base
        self.device = tensor.device if device is None else device

    @property
    def tensor(self) -> Any:
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """The base of what can be saved: `specs` say how, `restore` makes the op that takes back."""

    def __init__(self, op: Any, specs: list[SaveSpec], name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self) -> str:
        return self.specs[0].device  # type: ignore[no-any-return]

    def restore(self, restored_tensors: list[Tensor], restored_shapes: Any) -> Operation:
        """An op that stores the tensors, reshaped first if shapes are given."""
        raise NotImplementedError


def _reshaped(tensors: list[Tensor], shapes: Any) -> Tensor:
    return tensors[0] if shapes is None else reshape(tensors[0], shapes[0])


class ReferenceVariableSaveable(SaveableObject):
    """A variable that is saved from its reference and assigned to."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name)], name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: Any) -> Any:
        exact = restored_shapes is None and self.op.get_shape().is_fully_defined()
        value = _reshaped(restored_tensors, restored_shapes)
        return assign(self.op, value, validate_shape=exact)


class ResourceVariableSaveable(SaveableObject):
    """A variable behind a handle: given itself, or as a tensor that reads it."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._where = var.device
        self._shape = var.shape
        is_tensor = isinstance(var, Tensor)
        self._handle = var.op.inputs[0] if is_tensor else var.handle
        read = var if is_tensor else lambda: _read_to_host(var)
        super().__init__(var, [SaveSpec(read, slice_spec, name, var.dtype, var.device)], name)

    def restore(self, restored_tensors: list[Tensor], restored_shapes: Any) -> Any:
        value = _reshaped(restored_tensors, restored_shapes)
        with device(self._where):
            value = apply_op("Identity", value)
            self._shape.assert_is_compatible_with(value.shape)
            return apply_op("AssignVariableOp", self._handle, value)


def _read_to_host(variable: Any) -> Tensor:
    with device(variable.device):
        value = variable.read_value()
        with device("/device:CPU:0"):
            return apply_op("Identity", value)  # type: ignore[no-any-return]


def saveables_of(to_save: Any) -> list[SaveableObject]:
    """The saveables of a list of variables, or of a dict that gives them names, by name.

    Raises TypeError for what cannot be saved, ValueError for one thing under two names.
    """
    named = to_save if isinstance(to_save, dict) else _named(to_save)
    found: list[SaveableObject] = []
    seen: set[int] = set()
    for name in sorted(named):
        for saveable in _convert(named[name], name):
            if id(saveable.op) in seen:
                raise ValueError(
                    f"The same saveable will be restored with two names: {saveable.name}"
                )
            seen.add(id(saveable.op))
            found.append(saveable)
    return found


def _named(items: Any) -> dict[str, Any]:
    """The variables under their own names; slices of one tensor together, as a list."""
    if not isinstance(items, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {items}")
    named: dict[str, Any] = {}
    for item in sorted(items, key=lambda x: x.name):
        if isinstance(item, Variable) and item._get_save_slice_info():
            _add_slice(named, item)
            continue
        name, element = _own_name(item)
        if name in named and not isinstance(item, SaveableObject):
            raise ValueError(f"At least two variables have the same name: {name}")
        named[name] = element
    return named


def _add_slice(named: dict[str, Any], item: Any) -> None:
    name = item._get_save_slice_info().full_name
    if not isinstance(named.setdefault(name, []), list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    named[name].append(item)


def _own_name(item: Any) -> tuple[str, Any]:
    if isinstance(item, (SaveableObject, PartitionedVariable)):
        return item.name, item
    tensor = _element(item)
    if tensor is None:
        raise TypeError(f"Variable to save is not a Variable: {item}")
    op = tensor.op.inputs[0].op if tensor.op.type == "ReadVariableOp" else tensor.op
    return op.name, tensor


def _element(item: Any) -> Tensor | None:
    """The tensor that stands for a variable, or None if `item` is no variable."""
    if isinstance(item, BaseResourceVariable):
        return item._graph_element
    tensor = to_tensor(item, as_ref=True)
    return tensor if tensor.op.type in _REF_OPS + _RESOURCE_OPS else None


def _saveable(element: Any) -> Callable[..., SaveableObject]:
    is_ref = element.op.type in _REF_OPS
    return ReferenceVariableSaveable if is_ref else ResourceVariableSaveable


def _convert(item: Any, name: Any) -> Iterator[SaveableObject]:
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. Name "
            f"is not a string: {name}"
        )
    if isinstance(item, SaveableObject):
        yield item
    elif isinstance(item, (list, tuple, PartitionedVariable)):
        yield from _slices(list(item), name)
    else:
        element = _element(item)
        if element is None:
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not "
                f"a variable: {item}"
            )
        yield _saveable(element)(element, "", name)


def _slices(items: list[Any], name: str) -> Iterator[SaveableObject]:
    full_name = None
    for variable in items:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._get_save_slice_info()
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if full_name not in (None, info.full_name):
            raise ValueError(
                f"Slices must all be from the same tensor: {full_name} != {info.full_name}"
            )
        full_name = info.full_name
        yield _saveable(variable)(variable, info.spec, name)
