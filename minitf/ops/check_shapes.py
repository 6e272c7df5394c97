"""tf.debugging.assert_shapes: sizes of many tensors, given by numbers and by letters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.check import assert_rank, assert_rank_at_least, assert_rank_in
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.group import group


@dataclass(frozen=True)
class _Constraint:
    """A tensor and its sizes as asked; `innermost`: there may be further axes before them."""

    x: Tensor
    innermost: bool
    actual: Any
    asked: tuple[Any, ...]


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An op that fails unless each tensor has the sizes asked of it.

    shapes: {tensor: sizes} or pairs. A size is a number, a letter (all of one letter are equal),
    None or "." for any; "*" or ... first stands for any number of axes. Raises ValueError where
    known.
    """
    pairs = shapes.items() if isinstance(shapes, Mapping) else shapes
    message = message or ""
    with name_scope(name, "assert_shapes", [shapes, data]):
        tensors = [(to_tensor(x), s) for x, s in pairs if s is not None]
        constraints = [_constraint(x, s, message) for x, s in tensors]
        told = dict(data=data, summarize=summarize, message=message, name=name)
        ranks = [op for c in constraints if (op := _check_rank(c, told)) is not None]
        sizes = _check_sizes(constraints, data, summarize, message)
        with control_dependencies(ranks):
            return group(sizes)


def _constraint(x: Tensor, asked: Any, message: str) -> _Constraint:
    if not (hasattr(asked, "__iter__") or hasattr(asked, "__getitem__")):
        raise ValueError(
            f"{message}.  Tensor {x.name}.  Specified shape must be an iterable.  An iterable has "
            f"the attribute `__iter__` or `__getitem__`.  Received specified shape: {asked}"
        )
    sizes = tuple(asked)
    for i, size in enumerate(sizes):
        if i and (size is Ellipsis or size == "*"):
            raise ValueError(
                f"{message}.  Tensor {x.name} specified shape index {i}.  Symbol `...` or `*` for "
                "a variable number of unspecified dimensions is only allowed as the first entry"
            )
    innermost = bool(sizes) and (sizes[0] is Ellipsis or sizes[0] == "*")
    return _Constraint(x, innermost, _actual(x), (sizes[1:] if innermost else sizes) or (1,))


def _actual(x: Tensor) -> Any:
    """The sizes, as numbers where they are known; a scalar counts as of one size."""
    dynamic = array.shape(x)
    static = x._shape_tuple
    if static is None:
        is_scalar = math.equal(array.rank(x), 0)
        return cond(is_scalar, lambda: constant([1]), lambda: dynamic)
    return [dynamic[i] if n is None else n for i, n in enumerate(static)] or (1,)


def _check_rank(c: _Constraint, told: dict[str, Any]) -> Operation | None:
    rank = len(c.asked)
    if c.innermost:
        return None if rank < 2 else assert_rank_at_least(c.x, rank, **told)
    if rank < 2:
        return assert_rank_in(c.x, [0, 1], **told)
    return assert_rank(c.x, rank, **told)


def _check_sizes(
    constraints: list[_Constraint], data: Any, summarize: int | None, message: str
) -> list[Operation]:
    checks = []
    first: dict[Any, tuple[Any, Tensor, int]] = {}  # letter -> size, tensor and axis that set it
    for c in constraints:
        for i, asked in enumerate(c.asked):
            if asked is None or asked == ".":
                continue
            axis = i - len(c.asked) if c.innermost else i
            if _is_known(asked):
                size, why = int(asked), "Specified explicitly"
            elif asked in first:
                size, by, at = first[asked]
                why = f"Specified by tensor {by.name} dimension {at}"
            else:
                first[asked] = (c.actual[axis], c.x, axis)
                continue
            check = _check_size(c, axis, size, why, message)
            if check is not None:
                checks.append(check(data, summarize))
    return checks


def _check_size(
    c: _Constraint, axis: int, size: Any, why: str, message: str
) -> Callable[..., Operation] | None:
    """What makes the op for one size; None if it is known to be right."""
    actual = c.actual[axis]
    if _is_known(actual) and _is_known(size):
        if int(actual) == int(size):
            return None
        raise ValueError(
            f"{message}.  {why}.  Tensor {c.x.name} dimension {axis} must have size {size}.  "
            f"Received size {actual}, shape {c.x.shape}"
        )
    holds = math.equal(to_tensor(actual), to_tensor(size))

    def check(data: Any, summarize: int | None) -> Operation:
        if data is None:
            data = [
                message, why, f"Tensor {c.x.name} dimension", axis, "must have size", size,
                "Received shape: ", array.shape(c.x),
            ]  # fmt: skip
        return Assert(holds, data, summarize=summarize)

    return check


def _is_known(size: Any) -> bool:
    try:
        int(size)
    except (TypeError, ValueError):
        return False
    return True
