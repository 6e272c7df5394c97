"""The Kullback-Leibler divergence of two distributions, by a function for each pair of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.debug import Assert

_functions: dict[tuple[type, type], Callable[..., Tensor]] = {}


class RegisterKL:
    """Decorates the function (a, b, name=None) that gives KL(a || b). Raises ValueError for two."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = dist_cls_a, dist_cls_b

    def __call__(self, kl_fn: Any) -> Any:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _functions:
            a, b = (cls.__name__ for cls in self._key)
            raise ValueError(
                f"KL({a} || {b}) has already been registered to: {_functions[self._key]}"
            )
        _functions[self._key] = kl_fn
        return kl_fn


def _function(a: type, b: type) -> Callable[..., Tensor] | None:
    """The function of the nearest base classes."""
    found = [
        (i + j, _functions[parent_a, parent_b])
        for i, parent_a in enumerate(a.__mro__)
        for j, parent_b in enumerate(b.__mro__)
        if (parent_a, parent_b) in _functions
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: Any = None
) -> Tensor:
    """KL(a || b). Raises NotImplementedError for a pair of classes that has no function."""
    a, b = distribution_a, distribution_b
    function = _function(type(a), type(b))
    if function is None:
        raise NotImplementedError(
            f"No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(a).__name__} and distribution_b type {type(b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        kl = function(a, b, name=name)
        if allow_nan_stats:
            return kl
        kl = array.identity(kl, name="kl")
        fault = (
            f"KL calculation between {a.name} and {b.name} returned NaN values (and was called "
            "with allow_nan_stats=False). Values:"
        )
        fine = math.logical_not(math.reduce_any(math.is_nan(kl)))
        with control_dependencies([Assert(fine, [fault, kl])]):
            return array.identity(kl, name="checked_kl")


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True, name: Any = None) -> Tensor:
    """The entropy of a distribution, and its divergence from another one."""
    with name_scope(name, "cross_entropy"):
        entropy = ref.entropy()
        return entropy + kl_divergence(ref, other, allow_nan_stats)  # type: ignore[no-any-return]
