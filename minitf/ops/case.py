"""tf.case and tf.switch_case: one of several functions, as conds inside conds."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from minitf.convert import constant
from minitf.default import control_dependencies, name_scope
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.ops.control_flow import cond
from minitf.ops.debug import Assert
from minitf.ops.elementwise import cast
from minitf.ops.joining import stack
from minitf.ops.reduction import reduce_sum
from minitf_runtime.types import bool_, int32

__all__ = ["case", "switch_case"]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose predicate is true, else of `default` (TF: case)."""
    pairs = _pairs(pred_fn_pairs)
    preds, actions = [p for p, _ in pairs], [f for _, f in pairs]
    with name_scope(name, "case", [preds]):
        if default is None:
            default, preds, actions = _last_as_default(preds, actions)
        fn = default
        for pred, action in reversed(list(zip(preds, actions))):
            fn = functools.partial(cond, pred, true_fn=action, false_fn=fn, strict=strict)
        if not exclusive:
            return fn()
        with control_dependencies([_at_most(preds, 1, "Input error: exclusive=True")]):
            return fn()


def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """The result of the function with that number, of `default` (or the last) where none has it.

    Raises TypeError or ValueError unless the functions are numbered 0, 1, 2 ...
    """
    actions = _numbered(branch_index, branch_fns)
    with name_scope(name, "switch_case", [branch_index]):
        fn = default or actions.pop()
        for i, action in reversed(list(enumerate(actions))):
            pred = apply_op("Equal", branch_index, i)
            fn = functools.partial(cond, pred, true_fn=action, false_fn=fn)
        return fn()


def _numbered(branch_index: Any, branch_fns: Any) -> list[Callable[[], Any]]:
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if not branch_fns:
        raise ValueError("Must provide at least one item in branch_fns")
    if not isinstance(branch_fns, (list, tuple, Mapping)):
        raise TypeError("branch_fns must be a list, tuple, or dict")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else list(branch_fns)
    if all(map(callable, pairs)):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        key, fn = pair
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(fn):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(keys))):
        raise ValueError(
            f"branch indices (keys) must form contiguous range of [0 to {len(keys)}) but found "
            f"{{{','.join(map(str, keys))}}}"
        )
    return [dict(pairs)[key] for key in keys]


def _pairs(pred_fn_pairs: Any) -> list[tuple[Tensor, Callable[[], Any]]]:
    if not isinstance(pred_fn_pairs, (list, tuple, Mapping)):
        raise TypeError("fns must be a list, tuple, or dict")
    if isinstance(pred_fn_pairs, OrderedDict):
        pairs = list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, Mapping):
        pairs = sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
    else:
        pairs = list(pred_fn_pairs)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, fn = pair
        if not isinstance(pred, Tensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype is not bool_:
            raise TypeError(f"pred must be Tensor of type bool: {pred.name}")
        if not callable(fn):
            raise TypeError(f"fn for pred {pred.name} must be callable.")
    return pairs


def _last_as_default(preds: list[Tensor], actions: list[Any]) -> tuple[Any, list[Any], list[Any]]:
    """Without a default the last action is it, and one predicate must hold."""
    last, action = preds[-1], actions[-1]

    def default() -> Any:
        others = (
            "Implementation error: selected default action "
            f"#{len(preds) - 1} was called, but some of other predicates are True: "
        )
        told = (
            "Input error: None of conditions evaluated as True:",
            stack(preds, name="preds_c"),
        )
        checks = [_at_most(preds[:-1], 0, others), Assert(last, data=told)]
        with control_dependencies(checks):
            return action()

    return default, preds[:-1], actions[:-1]


def _at_most(preds: list[Tensor], n: int, message: str) -> Any:
    """An Assert that no more than n of the predicates hold."""
    from minitf.ops.debug import Assert  # it builds conds itself

    stacked = stack(preds, name="preds_c")
    count = reduce_sum(cast(stacked, int32), name="num_true_conds")
    limit = constant(n, name="n_true_conds")
    names = ", ".join(p.name for p in preds)
    data = [f"{message}: more than {n} conditions ({names}) evaluated as True:", stacked]
    return Assert(apply_op("LessEqual", count, limit), data, summarize=len(preds))
