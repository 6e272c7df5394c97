"""tf.raw_ops: every registered op as a function of keyword arguments, made from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import minitf_runtime.ops  # noqa: F401  (fills the registry)
from minitf.ops.apply import apply_op
from minitf_runtime.ops.registry import OPS, REQUIRED, OpDef, load, op_def

_made: dict[str, Callable[..., Any]] = {}


def raw_op(op_type: str) -> Callable[..., Any]:
    """The function for one op. Raises AttributeError if there is no such op."""
    load([op_type])
    if op_type not in OPS or op_type.startswith("_"):
        raise AttributeError(f"minitf has no op '{op_type}'")
    if op_type not in _made:
        _made[op_type] = _make(OPS[op_type])
    return _made[op_type]


def _make(opdef: OpDef) -> Callable[..., Any]:
    names = [a.name for a in opdef.inputs]
    told = {a.type_attr or a.list_attr for a in opdef.inputs} | {
        a.number_attr for a in opdef.inputs
    }
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    free = [(k, a) for k, a in opdef.attrs.items() if k not in told]
    for key, attr in sorted(free, key=lambda ka: ka[1].default is not REQUIRED):
        parameters.append(
            inspect.Parameter(key, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=attr.default)
        )
    parameters.append(
        inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    )
    signature = inspect.Signature(parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        inputs = [bound.pop(n) for n in names]
        return apply_op(opdef.name, *inputs, **bound)

    call.__name__ = call.__qualname__ = opdef.name
    call.__doc__ = opdef.doc or f"Adds a {opdef.name} op."
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def passthrough(op_type: str, name: str) -> Callable[..., Any]:
    """The public function of an op that has no rule of its own, under its public name."""
    fn = _make(op_def(op_type))
    fn.__name__ = fn.__qualname__ = name
    return fn


def __getattr__(name: str) -> Callable[..., Any]:
    return raw_op(name)


def __dir__() -> list[str]:
    import minitf_runtime.ops.late  # noqa: F401  (the rest of the registry)

    return sorted(n for n in OPS if not n.startswith("_"))
