"""tf.train.ExponentialMovingAverage: smoothed copies of variables and tensors."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import (
    GraphKeys,
    add_to_collection,
    colocate_with,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from minitf.initializers import zeros_initializer
from minitf.operation import Operation
from minitf.ops import state
from minitf.ops.apply import apply_op
from minitf.ops.elementwise import cast
from minitf.ops.group import group
from minitf.train import slot_creator
from minitf.variable_scope import get_variable, get_variable_scope, variable_scope
from minitf.variables import (
    Variable,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from minitf_runtime.types import FLOATS, float32

_VARIABLE_OPS = ("Variable", "VariableV2", "VarHandleOp")


class ExponentialMovingAverage:
    """Keeps average = decay * average + (1 - decay) * value (TF: the same).

    With `num_updates` the decay is at most (1 + num_updates) / (10 + num_updates).
    """

    def __init__(
        self,
        decay: Any,
        num_updates: Any = None,
        zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self.name = name
        self._averages: dict[Any, Any] = {}
        self._debiased: set[Any] = set()

    def apply(self, var_list: Any = None) -> Operation:
        """An op that updates the averages of the variables or tensors, made at the first call.

        Raises TypeError for one that has no float type.
        """
        var_list = trainable_variables() if var_list is None else list(var_list)
        for var in var_list:
            if var.dtype.base not in FLOATS:
                raise TypeError(f"The variables must be half, float, or double: {var.name}")
            if var not in self._averages:
                with control_dependencies(None):
                    self._averages[var] = self._make(var)
        with get_default_graph().role_scope("apply"), name_scope(self.name) as scope:
            decay = self._decay_now()
            updates = [self._updated(var, decay) for var in var_list]
            return group(*updates, name=scope)

    def _make(self, var: Any) -> Any:
        if isinstance(var, Variable):
            average = slot_creator.create_slot(var, var.initialized_value(), self.name)
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return average
        beside = var.op.type in _VARIABLE_OPS
        average = slot_creator.create_zeros_slot(var, self.name, colocate_with_primary=beside)
        if self._zero_debias:
            self._debiased.add(average)
        return average

    def _decay_now(self) -> Any:
        decay = to_tensor(self._decay, name="decay")
        if self._num_updates is None:
            return decay
        count = cast(self._num_updates, float32, name="num_updates")
        return apply_op("Minimum", decay, (1.0 + count) / (10.0 + count))

    def _updated(self, var: Any, decay: Any) -> Any:
        average = self._averages[var]
        return assign_moving_average(average, var, decay, average in self._debiased)

    def average(self, var: Any) -> Any:
        """The variable that holds the average of `var`, or None."""
        return self._averages.get(var)

    def average_name(self, var: Any) -> str:
        """How the average of `var` is called, or would be."""
        if var in self._averages:
            return self._averages[var].op.name  # type: ignore[no-any-return]
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables: Any = None) -> dict[str, Any]:
        """Names in a checkpoint -> variables: averages are restored into what they average."""
        averaged = moving_avg_variables
        if averaged is None:
            averaged = trainable_variables() + moving_average_variables()
        names = {self.average_name(v): v for v in dict.fromkeys(averaged)}
        known = {v.name for v in averaged}
        for v in global_variables():
            if v.name not in known:
                names.setdefault(v.op.name, v)
        return names


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """An op that moves `variable` towards `value`; `zero_debias` corrects for a start at zero."""
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        share = to_tensor(1.0 - decay, name="decay")
        if share.dtype is not variable.dtype.base:
            share = cast(share, variable.dtype.base)
        if zero_debias:
            return _assign_debiased(variable, value, share)
        return state.assign_sub(variable, (variable - value) * share, name=scope)


def _assign_debiased(variable: Any, value: Any, share: Any) -> Any:

    dtype = variable.dtype.base
    with (
        variable_scope(variable.op.name, values=[variable, value, share]),
        colocate_with(variable),
    ):
        biased, steps = (
            get_variable(
                _unique(name),
                shape=shape,
                initializer=zeros_initializer(),
                dtype=dtype,
                trainable=False,
            )
            for name, shape in (("biased", variable.shape), ("local_step", []))
        )
    moved = state.assign_sub(biased, (biased - value) * share)
    step = steps.assign_add(1)
    factor = 1 - apply_op("Pow", 1.0 - share, step)
    scope = get_default_graph().get_name_scope()
    return state.assign(variable, moved / factor, name=f"{scope}/")


def _unique(name: str) -> str:
    """`name`, with _1, _2 ... if the current variable scope has a variable of that name."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    unique, i = name, 0
    while f"{scope.name}/{unique}" in taken:
        i += 1
        unique = f"{name}_{i}"
    return unique
