"""Layer: the base class of tf.layers and of the cells of recurrent networks."""

from __future__ import annotations

import copy
import functools
import inspect
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minitf import nest
from minitf.convert import to_tensor
from minitf.default import GraphKeys, get_collection_ref, get_default_graph, name_scope
from minitf.graph import Graph
from minitf.initializers import glorot_uniform_initializer, zeros_initializer
from minitf.layers.arguments import function_of, initializer_of
from minitf.layers.input_spec import check_inputs
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import is_tensor
from minitf.stacks import DefaultStack
from minitf.variable_scope import VariableScope, get_variable, variable_scope
from minitf.variables.base import VariableAggregation, VariableSynchronization
from minitf.variables.collections import global_variables, trainable_variables
from minitf.variables.partitioned import PartitionedVariable
from minitf_runtime.types import DType, as_dtype, float32

_names_given: weakref.WeakKeyDictionary[Graph, Counter[str]] = weakref.WeakKeyDictionary()
_training: DefaultStack[Any] = DefaultStack()  # `training` of the layers that are being called


class Layer:
    """Variables and a function of tensors that uses them (TF: layers.Layer).

    A subclass makes its variables in `build(input_shape)` with `add_weight`, and its ops in
    `call(inputs, ...)`. Both run in the layer's variable scope.
    """

    def __init__(
        self, trainable: bool = True, name: Any = None, dtype: Any = None, **options: Any
    ) -> None:
        self._reuse = options.pop("_reuse", None)
        scope = options.pop("_scope", None)
        self._activity_regularizer = options.pop("activity_regularizer", None)
        if options:
            raise TypeError("Keyword argument not understood:", next(iter(options)))
        self.trainable = trainable
        self.built = False
        self.stateful = False
        self.input_spec: Any = None
        self._set_name(name)
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._trainable_weights: list[Any] = []
        self._non_trainable_weights: list[Any] = []
        self._updates: list[Operation] = []
        self._losses: list[Tensor] = []
        self._weight_losses: list[Callable[[], Tensor | None]] = []
        self._inputs_in_call: list[Any] = []
        self._unconditional: list[Any] = []  # updates and losses that depend on no input
        self._scope: VariableScope | None = None
        if scope:
            self._scope = _opened(variable_scope(scope))

    def _set_name(self, name: Any) -> None:
        """A layer without a name is named after its class; its scope is made unique later."""
        self._base_name = name.name if isinstance(name, VariableScope) else name
        self._name = name
        if not isinstance(name, str) or not name:
            own = _snake_case(type(self).__name__)
            given = _names_given.setdefault(get_default_graph(), Counter())
            given[own] += 1
            self._name = f"{own}_{given[own]}"
            self._base_name = self._base_name or own

    # ---- what a subclass defines

    def build(self, input_shape: Any) -> None:
        """Makes the variables; runs once, when the shape of the first inputs is known."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The layer's function of its inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say its output's shape")

    # ---- calling

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """`call`, in the layer's scope. `scope=` names it for a first call. Raises ValueError."""
        self._set_scope(kwargs.pop("scope", None))
        reuse = self.built or self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            if "scope" in self._call_arguments():
                kwargs["scope"] = scope
            inputs = nest.map_structure(_as_tensor, inputs)
            training = self._settle_training(args, kwargs)
            with _training.push(training), name_scope(scope.original_name_scope):
                outputs = self._call_inside(inputs, args, kwargs)
        _add_new(self.updates, GraphKeys.UPDATE_OPS)
        return outputs

    def apply(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return self(inputs, *args, **kwargs)

    def _call_inside(self, inputs: Any, args: Any, kwargs: Any) -> Any:
        check_inputs(self.input_spec, inputs, self.name)
        self._build_once(inputs)
        self._inputs_in_call = nest.flatten(inputs)
        outputs = self.call(inputs, *args, **kwargs)
        if outputs is None:
            raise ValueError(
                "A layer's `call` method should return a Tensor or a list of Tensors, not None "
                f"(layer: {self.name})."
            )
        self._regularize_activity(inputs, outputs)
        return outputs

    def _build_once(self, inputs: Any) -> None:
        if self.built:
            return
        flat = nest.flatten(inputs)
        if self._dtype is None and flat and hasattr(flat[0], "dtype"):
            self._dtype = as_dtype(flat[0].dtype).base
        known = all(hasattr(x, "shape") for x in flat)
        self.build(nest.map_structure(lambda x: x.shape, inputs) if known else None)
        self.built = True

    def _call_arguments(self) -> dict[str, inspect.Parameter]:
        return dict(inspect.signature(self.call).parameters)

    def _settle_training(self, args: Any, kwargs: Any) -> Any:
        """`training` of this call, or of the layer around it; passed on if `call` takes it."""
        parameters = self._call_arguments()
        names = list(parameters)[1:]
        takes = "training" in names or any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        if "training" in names[: len(args)]:
            return args[names.index("training")]
        if "training" in kwargs:
            return kwargs["training"] if takes else kwargs.pop("training")
        training = _training.top()
        if training is not None and takes:
            kwargs["training"] = training
        return training

    def _set_scope(self, scope: Any = None) -> None:
        """Gives the layer its variable scope, on its first use."""
        if self._scope is None:
            if self._reuse and scope is None:
                scope = self._base_name
            self._scope = _opened(variable_scope(scope, default_name=self._base_name))

    @property
    def scope_name(self) -> str:
        if self._scope is None:
            raise ValueError(
                f'No name available for layer scope because the layer "{self._name}" has not been '
                "used yet. The scope name  is determined the first time the layer instance is "
                "called. You must therefore call the layer before querying `scope_name`."
            )
        return self._scope.name

    # ---- variables

    def add_weight(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        partitioner: Any = None,
    ) -> Any:
        """A variable of the layer, new or (with reuse) shared.

        Raises ValueError for a trainable variable that is synchronized on read.
        """
        on_read = synchronization is VariableSynchronization.ON_READ
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True and "
                "synchronization=VariableSynchronization.ON_READ."
            )
        trainable = not on_read if trainable is None else trainable
        dtype = as_dtype(dtype or self._dtype or float32)
        self._dtype = self._dtype or dtype.base
        existing = set(global_variables()) if regularizer else set()
        self._set_scope()
        reuse = self.built or self._reuse
        with variable_scope(self._scope, reuse=reuse, auxiliary_name_scope=False) as scope:
            if initializer is None:
                initializer = scope.initializer or _default_initializer(name, dtype)
            with name_scope(scope.original_name_scope):
                variable = get_variable(
                    name,
                    shape=() if shape is None else shape,
                    dtype=dtype,
                    initializer=initializer_of(initializer),
                    trainable=trainable and self.trainable,
                    constraint=function_of("constraint function", constraint),
                    partitioner=partitioner,
                    use_resource=use_resource or scope.use_resource,
                    synchronization=synchronization,
                    aggregation=aggregation,
                )
                if regularizer and existing.isdisjoint(_parts(variable)):
                    self._regularize(name, variable, function_of("regularizer", regularizer))
        # A custom getter may have made it not trainable.
        overridden = self.trainable and variable not in trainable_variables()
        kept = trainable and not overridden
        (self._trainable_weights if kept else self._non_trainable_weights).append(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> Any:
        return self.add_weight(*args, **kwargs)

    def _regularize(self, name: str, variable: Any, regularizer: Any) -> None:
        def loss_of(part: Any) -> Tensor | None:
            with get_default_graph().name_scope(f"{name}/Regularizer"):
                return regularizer(part)  # type: ignore[no-any-return]

        for part in _parts(variable):
            self.add_loss(functools.partial(loss_of, part))

    # ---- losses and updates

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, or functions that make them; they go to REGULARIZATION_LOSSES."""
        added = []
        for loss in nest.flatten(losses):
            if callable(loss):
                make = functools.partial(self._made_loss, loss, inputs)
                self._weight_losses.append(make)
                loss = make()
            elif loss is not None:
                loss = self._made_loss(lambda loss=loss: loss, inputs)
                self._losses.append(loss)
            if loss is not None:
                added.append(loss)
        _add_new(added, GraphKeys.REGULARIZATION_LOSSES)

    def _made_loss(self, make: Callable[[], Any], inputs: Any) -> Tensor | None:
        loss = make()
        if loss is None:
            return None
        if not is_tensor(loss):
            loss = to_tensor(loss, float32)
        if inputs is None:
            self._unconditional.append(loss)
        return loss  # type: ignore[no-any-return]

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        if not self._activity_regularizer:
            return
        with get_default_graph().name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                batch_size = math.cast(array.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch_size, inputs=inputs)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds ops (or functions that make them) that belong to a training step."""
        listed = updates if isinstance(updates, (list, tuple)) else [updates]
        found = [update() if callable(update) else update for update in listed]
        ops = [x if isinstance(x, Operation) else x.op for x in found]
        reached = _reached(self._inputs_in_call)
        self._unconditional += [op for op in ops if op not in reached]
        self._updates += ops

    @property
    def updates(self) -> list[Operation]:
        return list(self._updates) if self.trainable or self.stateful else []

    @property
    def losses(self) -> list[Tensor]:
        """The losses; those of variables are made anew (TF: the same)."""
        made = [loss for make in self._weight_losses if (loss := make()) is not None]
        return self._losses + made

    def get_updates_for(self, inputs: Any) -> list[Operation]:
        """The updates that depend on `inputs`; for None those that depend on no input."""
        return self._relevant(self.updates, inputs)

    def get_losses_for(self, inputs: Any) -> list[Tensor]:
        """The losses that depend on `inputs`; for None those that depend on no input."""
        return self._relevant(self.losses, inputs)

    def _relevant(self, elements: list[Any], inputs: Any) -> list[Any]:
        free = {e for e in elements if e in self._unconditional}
        if inputs is None:
            return [e for e in elements if e in free]
        reached = _reached(nest.flatten(inputs))
        return [e for e in elements if e not in free and e in reached]

    # ---- what there is

    @property
    def name(self) -> Any:
        return self._name

    @property
    def dtype(self) -> str | None:
        return None if self._dtype is None else self._dtype.name

    @property
    def activity_regularizer(self) -> Any:
        return self._activity_regularizer

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._trainable_weights) if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        if self.trainable:
            return list(self._non_trainable_weights)
        return self._trainable_weights + self._non_trainable_weights

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Any]:
        return self.non_trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    def count_params(self) -> int:
        """How many numbers the variables hold. Raises ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You "
                f"can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(w.shape.as_list()) for w in self.weights))

    def __deepcopy__(self, memo: dict[int, Any]) -> Layer:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in vars(self).items():
            made.__dict__[key] = _copied(value, memo)
        return made


# ---- helpers


def _snake_case(name: str) -> str:
    parts = re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    snake = re.sub("([a-z])([A-Z])", r"\1_\2", parts).lower()
    return f"private{snake}" if snake.startswith("_") else snake


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """A copy of what a layer keeps; there is no second one of what is part of a graph."""
    if hasattr(value, "graph"):
        return value
    if isinstance(value, (VariableScope, variable_scope)):
        return copy.copy(value)
    if isinstance(value, list) and value and hasattr(value[0], "graph"):
        return list(value)
    return copy.deepcopy(value, memo)


def _as_tensor(value: Any) -> Any:
    return to_tensor(value) if isinstance(value, (np.ndarray, float, int)) else value


def _default_initializer(name: str, dtype: DType) -> Any:
    if dtype.is_floating:
        return glorot_uniform_initializer()
    if dtype.is_integer or dtype.is_bool:
        return zeros_initializer()
    raise ValueError(f"An initializer for variable {name} of type {dtype} is required")


def _opened(scope: variable_scope) -> VariableScope:
    with scope as opened:
        return opened


def _parts(variable: Any) -> list[Any]:
    return list(variable) if isinstance(variable, PartitionedVariable) else [variable]


def _add_new(elements: Iterable[Any], collection: str) -> None:
    members = get_collection_ref(collection)
    members += [e for e in elements if e not in members]


def _reached(inputs: Iterable[Any]) -> set[Any]:
    """The tensors or variables themselves, and all ops and tensors that depend on one of them."""
    found: set[Any] = set()
    stack = list(inputs)
    while stack:
        x = stack.pop()
        if x in found:
            continue
        found.add(x)
        if isinstance(x, Operation):
            stack += [*x.outputs, *x._control_outputs]
        else:
            stack += x.consumers() if isinstance(x, Tensor) else [x.op]
    return found
