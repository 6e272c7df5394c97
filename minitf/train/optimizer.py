"""Optimizer: minimize(), and what it adds to the graph in which order. Update rules: rules.py."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    get_collection,
    get_collection_ref,
    get_default_graph,
    name_scope,
)
from minitf.gradients.driver import gradients
from minitf.indexed_slices import IndexedSlices, tensor_or_slices
from minitf.operation import Operation, Tensor
from minitf.ops import state
from minitf.ops.apply import apply_op
from minitf.ops.array import shape
from minitf.ops.group import group
from minitf.ops.group import tuple as tuple_op
from minitf.train import slot_creator
from minitf.variables import Variable, trainable_variables
from minitf.variables.resource import BaseResourceVariable, is_resource_variable
from minitf_runtime.types import FLOATS, resource

GradsAndVars = Sequence[tuple[Any, Any]]


class Optimizer:
    """Adds the ops that change variables so as to make a loss smaller (TF: train.Optimizer).

    A subclass says in `_create_slots`, `_prepare`, `_apply_dense` and the other `_apply` methods
    what it keeps for each variable and how it updates one.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slot_dict: dict[Any, Any] = {}

    def get_name(self) -> str:
        return self._name

    # ---- the three steps

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
        """An op that makes one step: compute_gradients, then apply_gradients."""
        pairs = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(grad is None for grad, _ in pairs):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                f"support gradients, between variables {[str(v) for _, v in pairs]} and loss "
                f"{loss}."
            )
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
        """(gradient, variable) for each variable; the gradient is None where there is none.

        A loss that is a function is called first, as TF 1.15 allows also in graphs.
        Raises ValueError for a loss or variable of another than a float type, or without variables.
        """
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        if callable(loss):
            loss = loss()
        self._assert_valid_dtypes([loss] if grad_loss is None else [loss, grad_loss])
        if var_list is None:
            more = get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
            var_list = trainable_variables() + more
        else:
            var_list = nest.flatten(var_list)
        targets = [_target(v) for v in var_list]
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            loss,
            targets,
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            with get_default_graph().role_scope("gradient"):
                grads = tuple_op(grads)
        pairs = list(zip(grads, var_list))
        self._assert_valid_dtypes(
            [v for grad, v in pairs if grad is not None and v.dtype is not resource]
        )
        return pairs

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: str | None = None
    ) -> Any:
        """An op that updates each variable that has a gradient, and then adds one to `global_step`.

        Raises ValueError if no variable has a gradient, TypeError for a gradient that is no tensor.
        """
        pairs = [(_as_gradient(grad), v) for grad, v in grads_and_vars]
        if not pairs:
            raise ValueError("No variables provided.")
        for _, v in pairs:
            _target(v)
        var_list = [v for grad, v in pairs if grad is not None]
        if not var_list:
            names = [str(v) for _, v in pairs]
            raise ValueError(f"No gradients provided for any variable: {names}.")
        graph = get_default_graph()
        with graph.role_scope("slot"), control_dependencies(None):
            self._create_slots(var_list)
        with graph.role_scope("apply"), name_scope(name, self._name) as scope:
            self._prepare()
            updates = [self._update(v, grad) for grad, v in pairs if grad is not None]
            if global_step is None:
                applied = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    applied = _increment(global_step, scope)
            train_op = applied.op if isinstance(applied, Tensor) else applied
            known = get_collection_ref(GraphKeys.TRAIN_OP)
            if train_op not in known:
                known.append(train_op)
            return train_op

    def _update(self, var: Any, grad: Any) -> Any:
        """The update of one variable, in a scope of its own and where the variable is."""
        with name_scope(f"update_{var.op.name}"), colocate_with(var):
            if isinstance(grad, IndexedSlices):
                if var.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                if is_resource_variable(var):
                    return self._resource_apply_sparse_duplicate_indices(
                        grad.values, var, grad.indices
                    )
                return self._apply_sparse_duplicate_indices(grad, var)
            if not isinstance(var, Variable):
                raise NotImplementedError("Trying to update a Tensor ", var)
            by_handle = is_resource_variable(var)
            update = (self._resource_apply_dense if by_handle else self._apply_dense)(grad, var)
            if var.constraint is None:
                return update
            with control_dependencies([update]):
                return var.assign(var.constraint(var))

    # ---- slots

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of that name that was made for a variable, or None."""
        return self._slots.get(name, {}).get(_key(var))

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All slots and other variables of this optimizer in the default graph, by name."""
        graph = get_default_graph()
        made = [*self._non_slot_dict.values()]
        for slots in self._slots.values():
            made += slots.values()
        return sorted((v for v in made if v.graph is graph), key=lambda v: v.name)

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer itself, made once for a graph, where another variable is."""
        graph = colocate_with.graph
        if (name, graph) not in self._non_slot_dict:
            by_handle = is_resource_variable(colocate_with)
            with graph.colocate_with(colocate_with):
                self._non_slot_dict[name, graph] = Variable(
                    initial_value, name=name, trainable=False, use_resource=by_handle
                )
        return self._non_slot_dict[name, graph]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slot_dict.get((name, graph))

    def _get_or_make_slot(self, var: Any, val: Tensor, slot_name: str, op_name: str) -> Any:
        slots = self._slots.setdefault(slot_name, {})
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_slot(var, val, op_name)
        return slots[_key(var)]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        slots = self._slots.setdefault(slot_name, {})
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            )
        return slots[_key(var)]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        slots = self._slots.setdefault(slot_name, {})
        if _key(var) not in slots:
            slots[_key(var)] = slot_creator.create_zeros_slot(var, op_name)
        return slots[_key(var)]

    # ---- what a subclass defines

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the slots of each variable. None by default."""

    def _prepare(self) -> None:
        """Makes tensors of the hyper-parameters. None by default."""

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        raise NotImplementedError

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        """An update of the rows at `grad.indices`, none of which comes twice."""
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        """An update of the rows at `indices`, none of which comes twice."""
        raise NotImplementedError

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        values, indices = _without_duplicates(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        values, unique = _without_duplicates(grad, indices)
        return self._resource_apply_sparse(values, handle, unique)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        return group(*update_ops, name=name_scope)

    def _valid_dtypes(self) -> Iterable[Any]:
        return FLOATS

    def _assert_valid_dtypes(self, tensors: Iterable[Any]) -> None:
        valid = list(self._valid_dtypes())
        for t in tensors:
            if t.dtype.base not in valid:
                raise ValueError(f"Invalid type {t.dtype.base!r} for {t.name}, expected: {valid}.")


def _key(var: Any) -> tuple[Any, str]:
    return var.op.graph, var.op.name


def _target(var: Any) -> Any:
    """What gradients are taken of. Raises NotImplementedError for what cannot be optimized."""
    if isinstance(var, Variable) and not is_resource_variable(var):
        return var._element
    if isinstance(var, (Variable, Tensor)):
        return var
    raise NotImplementedError("Trying to optimize unsupported type ", var)


def _as_gradient(grad: Any) -> Any:
    if grad is None:
        return None
    try:
        return tensor_or_slices(grad)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}"
        ) from None


def _without_duplicates(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """Rows of equal index summed up: (the sums, each index once)."""

    unique, places = apply_op("Unique", indices)
    count = shape(unique)[0]
    return apply_op("UnsortedSegmentSum", values, places, count), unique


def _increment(global_step: Any, name: str) -> Operation | Tensor:
    with colocate_with(global_step):
        if isinstance(global_step, BaseResourceVariable):
            one = to_tensor(1, global_step.dtype)
            return apply_op("AssignAddVariableOp", global_step.handle, one, name=name)  # type: ignore[no-any-return]
        return state.assign_add(global_step, 1, name=name)  # type: ignore[no-any-return]
