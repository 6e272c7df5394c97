"""Assertions on tensors: what is known is checked at once, the rest by an op of the graph."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.apply import apply_op
from minitf.ops.constant_value import constant_value
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.group import no_op, with_dependencies
from minitf.tensor_shape import TensorShape
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.types import (
    DType,
    as_dtype,
    complex64,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)

__all__ = [
    "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer", "assert_less",
    "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative",
    "assert_non_positive", "assert_none_equal", "assert_positive", "assert_proper_iterable",
    "assert_rank", "assert_rank_at_least", "assert_rank_in", "assert_same_float_dtype",
    "assert_scalar", "assert_type", "ensure_shape", "is_non_decreasing", "is_numeric_tensor",
    "is_strictly_increasing",
]  # fmt: skip

_NUMERIC = (float32, float64, int8, int16, int32, int64, uint8, complex64)


def _named(fn: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc
    return fn


# ---- comparing two tensors


def _compare(
    sign: str, public: str, op: Callable[..., Tensor], known: Callable[..., Any]
) -> Callable[..., Operation]:
    def check(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, public, [x, y, data]):
            x = to_tensor(x, name="x")
            y = to_tensor(y, name="y")
            if data is None:
                data = [
                    f"Condition x {sign} y did not hold element-wise:",
                    f"x ({x.name}) = ", x, f"y ({y.name}) = ", y,
                ]  # fmt: skip
            if message is not None:
                data = [message, *data]
            condition = math.reduce_all(op(x, y))
            known_x, known_y = constant_value(x), constant_value(y)
            if known_x is not None and known_y is not None and not np.all(known(known_x, known_y)):
                shown = "\n".join(_shown(d) for d in data)
                raise InvalidArgumentError(None, None, shown)
            return Assert(condition, data, summarize=summarize)

    doc = (
        f"An op that fails unless x {sign} y for all elements. Raises InvalidArgumentError at once"
    )
    return _named(check, public, doc + " where both are known.")


def _shown(value: Any) -> str:
    known = constant_value(value)
    return str(value if known is None else known)


_assert_equal = _compare("==", "assert_equal", math.equal, np.equal)
assert_none_equal = _compare("!=", "assert_none_equal", math.not_equal, np.not_equal)
assert_less = _compare("<", "assert_less", math.less, np.less)
assert_less_equal = _compare("<=", "assert_less_equal", math.less_equal, np.less_equal)
assert_greater = _compare(">", "assert_greater", math.greater, np.greater)
assert_greater_equal = _compare(">=", "assert_greater_equal", math.greater_equal, np.greater_equal)


def assert_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An op that fails unless x == y for all elements. Raises InvalidArgumentError at once where
    both are known."""
    with name_scope(name, "assert_equal", [x, y, data]):
        if x is y:
            return no_op()
    return _assert_equal(x, y, data, summarize, message, name)


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An op that fails unless |x - y| < atol + rtol * |y|; both are 10 ulps of one by default."""
    with name_scope(name, "assert_near", [x, y, rtol, atol, data]):
        x = to_tensor(x, name="x")
        y = to_tensor(y, x.dtype, name="y")
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        rtol = to_tensor(10 * eps if rtol is None else rtol, x.dtype, name="rtol")
        atol = to_tensor(10 * eps if atol is None else atol, x.dtype, name="atol")
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.name}) = ", x, f"y ({y.name}) = ", y,
            ]  # fmt: skip
        tolerance = atol + rtol * math.abs(y)
        difference = math.abs(x - y)
        condition = math.reduce_all(math.less(difference, tolerance))
        return Assert(condition, data, summarize=summarize)


# ---- comparing with zero


def _sign(sign: str, public: str, check: Callable[..., Operation]) -> Callable[..., Operation]:
    def signed(
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, public, [x, data]):
            x = to_tensor(x, name="x")
            if data is None:
                told = [f"Condition x {sign} 0 did not hold element-wise:", f"x ({x.name}) = "]
                if sign == "<=":
                    told = ["".join(told)]  # one text, as in TF
                data = [message or "", *told, x]
            zero = to_tensor(0, x.dtype)
            return check(x, zero, data, summarize)

    return _named(signed, public, f"An op that fails unless all elements of x are {sign} 0.")


assert_negative = _sign("<", "assert_negative", assert_less)
assert_positive = _sign(">", "assert_positive", lambda x, zero, *rest: assert_less(zero, x, *rest))
assert_non_positive = _sign("<=", "assert_non_positive", assert_less_equal)
assert_non_negative = _sign(
    ">=", "assert_non_negative", lambda x, zero, *rest: assert_less_equal(zero, x, *rest)
)


# ---- ranks


class _WrongRank(ValueError):
    """A rank that is known and wrong."""


def _check_rank(
    x: Tensor,
    ranks: Sequence[Tensor],
    fits: Callable[[int, Any], bool],
    condition: Callable[[Tensor], Tensor],
    data: list[Any],
    summarize: int | None,
) -> Operation:
    """Checks now if all is known. Raises ValueError for a wrong rank, or one that is no scalar."""
    for rank in ranks:
        assert_type(rank, int32)
    known = tuple(constant_value(r) for r in ranks)
    if all(r is not None for r in known):
        if any(r.ndim for r in known):
            raise ValueError("Rank must be a scalar.")
        ndims = x.shape.ndims
        if ndims is not None:
            if not fits(ndims, known):
                raise _WrongRank
            return no_op(name="static_checks_determined_all_ok")
    holds = condition(array.rank(x))
    for rank, value in zip(ranks, known):
        if value is None:
            told = ["Rank must be a scalar. Received rank: ", rank]
            holds = with_dependencies([assert_rank(rank, 0, data=told)], holds)
    return Assert(holds, data, summarize=summarize)


def _one_rank(
    public: str, words: str, fits: Callable[[int, int], bool], compare: Callable[..., Tensor]
) -> Callable[..., Operation]:
    def check(
        x: Any,
        rank: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, public, [x, rank, *(data or [])]):
            x = to_tensor(x, name="x")
            rank = to_tensor(rank, name="rank")
            message = message or ""
            if data is None:
                data = [
                    message, f"Tensor {x.name} must have {words}", rank,
                    "Received shape: ", array.shape(x),
                ]  # fmt: skip
            try:
                return _check_rank(
                    x, [rank], lambda n, r: fits(n, int(r[0])), lambda n: compare(n, rank),
                    data, summarize,
                )  # fmt: skip
            except _WrongRank:
                raise ValueError(
                    f"{message}.  Tensor {x.name} must have {words} {int(constant_value(rank))}.  "
                    f"Received rank {x.shape.ndims}, shape {x.shape}"
                ) from None

    return _named(
        check,
        public,
        f"An op that fails unless x has {words} `rank`. Raises ValueError where known.",
    )


assert_rank = _one_rank("assert_rank", "rank", operator.eq, math.equal)
assert_rank_at_least = _one_rank(
    "assert_rank_at_least", "rank at least", operator.ge,
    math.greater_equal,
)  # fmt: skip


def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An op that fails unless x has one of the ranks. Raises ValueError where known."""
    with name_scope(name, "assert_rank_in", [x, *ranks, *(data or [])]):
        x = to_tensor(x, name="x")
        tensors = [to_tensor(r, name="rank") for r in ranks]
        message = message or ""
        if data is None:
            data = [
                message, f"Tensor {x.name} must have rank in", *tensors,
                "Received shape: ", array.shape(x),
            ]  # fmt: skip
        try:
            return _check_rank(
                x, tensors, lambda n, known: n in known, lambda n: _is_any(n, tensors),
                data, summarize,
            )  # fmt: skip
        except _WrongRank:
            known = tuple(int(constant_value(r)) for r in tensors)
            raise ValueError(
                f"{message}.  Tensor {x.name} must have rank in {known}.  "
                f"Received rank {x.shape.ndims}, shape {x.shape}"
            ) from None


def _is_any(rank: Tensor, ranks: Sequence[Tensor]) -> Tensor:
    if not ranks:
        return to_tensor(False)
    found = math.equal(ranks[0], rank)
    for other in ranks[1:]:
        found = math.logical_or(found, math.equal(other, rank))
    return found


# ---- types and forms: known when the graph is made


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Raises TypeError unless x is of an integer type; gives a no_op."""
    with name_scope(name, "assert_integer", [x]):
        x = to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message or ""}  Expected "x" to be integer type.  Found: {x.name} of dtype '
                f"{x.dtype}"
            )
        return no_op("statically_determined_was_integer")


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """Raises TypeError unless the tensor is of that type; gives a no_op."""
    with name_scope(name, "assert_type", [tensor]):
        tensor = to_tensor(tensor, name="tensor")
        if tensor.dtype != tf_type:
            raise TypeError(f"{message or ''}  {tensor.name} must be of type {tf_type}")
        return no_op("statically_determined_correct_type")


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """The tensor. Raises ValueError unless it is known to be a scalar."""
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = to_tensor(tensor, name=scope)
        if tensor.shape.ndims != 0:
            raise ValueError(
                f"{message or ''}Expected scalar shape for {tensor.name}, saw shape: "
                f"{tensor.shape}."
            )
        return tensor  # type: ignore[no-any-return]


def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError for what is no iterable, or only by accident one: tensors, strings."""
    if isinstance(values, (Tensor, np.ndarray, bytes, str)) or hasattr(values, "dense_shape"):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The one float type of all tensors, float32 by default. Raises ValueError if there is none."""
    expected = as_dtype(dtype) if dtype else None
    first = None
    for t in tensors or ():
        if t is None:
            continue
        own = t.dtype.base
        if expected is None:
            expected, first = own, t
        elif own is not expected:
            as_first = "" if first is None else f" as {getattr(first, 'name', first)}"
            raise ValueError(
                f"{getattr(t, 'name', t)}, type={own}, must be of the same type ({expected})"
                f"{as_first}."
            )
    if expected is None:
        return float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """x, its shape known to fit `shape`: checked now as far as it is known, and in the run."""
    return apply_op("EnsureShape", x, shape=TensorShape(shape), name=name)  # type: ignore


def is_numeric_tensor(tensor: Any) -> bool:
    return isinstance(tensor, Tensor) and tensor.dtype.base in _NUMERIC


# ---- order


def _differences(x: Any) -> Tensor:
    """Each element less the one before it, flattened. Raises TypeError for what is no number."""
    x = array.reshape(x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    short = math.less(array.size(x), 2)
    length = array.shape(x) - 1

    def pairs() -> Tensor:
        return array.strided_slice(x, [1], [1] + length) - array.strided_slice(x, [0], length)

    return cond(short, lambda: to_tensor([], x.dtype), pairs)  # type: ignore[no-any-return]


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element of x is less than the one before it."""
    with name_scope(name, "is_non_decreasing", [x]):
        steps = _differences(x)
        return math.reduce_all(math.less_equal(to_tensor(0, steps.dtype), steps))


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of x is greater than the one before it."""
    with name_scope(name, "is_strictly_increasing", [x]):
        steps = _differences(x)
        return math.reduce_all(math.less(to_tensor(0, steps.dtype), steps))
