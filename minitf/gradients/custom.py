"""tf.custom_gradient and grad_pass_through: functions with a gradient that the user gives."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import GraphKeys, get_collection
from minitf.operation import Operation, Tensor
from minitf.ops.apply import make_op
from minitf.ops.array import identity

__all__ = ["custom_gradient", "grad_pass_through"]

VARIABLE_OPS = ("VariableV2", "VarHandleOp")


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Gives `f`, which returns (result, grad_fn), the gradient grad_fn(*grads of the result).

    Where f uses resource variables that are no arguments, grad_fn takes `variables` too and returns
    the gradients by the arguments and by the variables. Raises TypeError for reference variables.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when "
                "eager execution is enabled."
            )
        inputs = [to_tensor(a) for a in args]
        result, grad_fn = f(*inputs)
        results = nest.flatten(result)
        variables = _variables_between(inputs, results)
        _check_signature(grad_fn, variables)
        op = make_op("IdentityN", [*results, *inputs, *(v.handle for v in variables)])
        op._gradient_function = _gradient_of(grad_fn, len(results), variables)
        return nest.pack_sequence_as(result, op.outputs[: len(results)])

    return decorated


def _gradient_of(grad_fn: Any, count: int, variables: list[Any]) -> Callable[..., Any]:
    """grad_fn as a gradient of the IdentityN over results, inputs and variables."""

    def function(op: Operation, *grads: Any) -> list[Any]:
        of_variables: list[Any] = []
        if variables:
            of_inputs, of_variables = grad_fn(*grads[:count], variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            of_inputs = grad_fn(*grads[:count])
        return [None] * count + nest.flatten(of_inputs) + list(of_variables)

    return function


def _check_signature(grad_fn: Any, variables: list[Any]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    named = "variables" in spec.args + spec.kwonlyargs or spec.varkw is not None
    if variables and not named:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must "
            "accept a keyword argument 'variables'."
        )


def _variables_between(inputs: list[Tensor], results: list[Any]) -> list[Any]:
    """The trainable variables that the results depend on other than through the inputs."""
    stop = set(inputs)
    seen: set[Operation] = set()
    found: dict[str, None] = {}
    stack = [identity(t) for t in results]  # TF starts from such ops, and leaves them in the graph
    while stack:
        op = stack.pop().op
        if op not in seen:
            seen.add(op)
            if op.type in VARIABLE_OPS:
                found[op.name] = None
            stack += [t for t in op._inputs if t not in stop]
    by_name = {v.op.name: v for v in get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    variables = [by_name[name] for name in found if name in by_name]
    for v in variables:
        if not isinstance(getattr(v, "handle", None), Tensor):
            raise TypeError(
                "All variables used by a function wrapped with @custom_gradient must be "
                "`ResourceVariable`s. Ensure that no `variable_scope` is created with "
                "`use_resource=False`."
            )
    return variables


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` going forward, and the identity going back (TF: grad_pass_through)."""

    @custom_gradient
    def through(*args: Any) -> Any:
        def grad(*grads: Any, variables: Any = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), grad

    return functools.wraps(f)(through)
