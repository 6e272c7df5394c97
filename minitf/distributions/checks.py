"""What distributions ask of their parameters and values when `validate_args` is set."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math, nn
from minitf.ops.check import (
    assert_equal,
    assert_less_equal,
    assert_near,
    assert_non_negative,
)
from minitf.ops.group import with_dependencies
from minitf_runtime.types import DType, bool_, float16, float32, float64, int16, int32, int64

_SAME_SIZE = {float16: int16, float32: int32, float64: int64}


def logits_and_probs(
    logits: Any, probs: Any, multidimensional: bool, validate_args: bool, name: str
) -> tuple[Tensor, Tensor]:
    """Both, of the one that is given: of bits, or with `multidimensional` of classes.

    Raises ValueError unless just one is given, TypeError for integers.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = to_tensor(logits, name="logits")
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if multidimensional and validate_args:
                _check_classes(logits)
            squash = nn.softmax if multidimensional else math.sigmoid
            return logits, squash(logits, name="probs")
        probs = to_tensor(probs, name="probs")
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            probs = _checked_probs(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return math.log(probs), probs
            return math.log(probs) - math.log1p(-1.0 * probs), probs


def _checked_probs(probs: Tensor, multidimensional: bool) -> Tensor:
    with name_scope("validate_probs"):
        one = constant(1.0, probs.dtype)
        checks = [assert_non_negative(probs)]
        if multidimensional:
            _check_classes(probs)
            total = math.reduce_sum(probs, -1)
            checks.append(assert_near(total, one, message="probs does not sum to 1."))
        else:
            fault = "probs has components greater than 1."
            checks.append(assert_less_equal(probs, one, message=fault))
        return with_dependencies(checks, probs)


def _check_classes(logits: Tensor) -> None:
    """Raises ValueError for fewer than two classes."""
    count = logits.shape.with_rank_at_least(1)[-1].value
    if count is not None and count < 2:
        raise ValueError("A categorical-distribution parameter must have at least 2 events.")


def checked_integers(x: Tensor, target: DType) -> Tensor:
    """x, that must hold integers from 0 on, as far as `target` goes."""
    with name_scope("embed_check_casting_closed", values=[x]):
        checks = [assert_non_negative(x, message="Elements must be non-negative.")]
        largest = 1 if target is bool_ else target.max
        if x.dtype.is_floating:
            checks.append(_assert_whole(x, target, f"Elements must be {target.name}-equivalent."))
        elif x.dtype.max > largest:
            fault = f"Elements cannot exceed {largest}."
            checks.append(assert_less_equal(x, largest, message=fault))
        return with_dependencies(checks, x)


def checked_counts(x: Any) -> Tensor:
    """x, that must hold integers from 0 on."""
    with name_scope("embed_check_nonnegative_integer_form", values=[x]):
        x = to_tensor(x, name="x")
        checks = [assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            fault = f"'{x}' cannot contain fractional components."
            checks.append(_assert_whole(x, _SAME_SIZE[x.dtype.base], fault))
        return with_dependencies(checks, x)


def _assert_whole(x: Tensor, target: DType, fault: str) -> Operation:
    """Raises, in the run, for what another type cannot hold."""
    name = "assert_integer_form"
    with name_scope(name, values=[x]):
        whole = math.cast(math.cast(x, target), x.dtype)
        return assert_equal(x, whole, message=fault, name=name)


def not_defined(shape: Tensor, dtype: DType) -> Tensor:
    """NaN, for where something is not defined."""
    return array.fill(shape, dtype.as_numpy_dtype("nan"), name="nan")
