"""tf.variable_scope and tf.get_variable: names, defaults and sharing of variables."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from minitf.convert import to_tensor
from minitf.default import GraphKeys, get_collection, graph_of, name_scope
from minitf.variables.base import VariableAggregation, VariableSynchronization
from minitf.variables.partitioners import Partitioner
from minitf.variables.scopes import ScopeState, scope_state
from minitf.variables.store import Wanted, get_by_full_name
from minitf_runtime.types import as_dtype, float32

__all__ = [
    "AUTO_REUSE", "VariableScope", "create_partitioned_variables", "get_local_variable",
    "get_variable", "get_variable_scope", "no_regularizer", "variable_op_scope", "variable_scope",
]  # fmt: skip


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE  # get_variable shares the variable if it exists, else makes it


class VariableScope:
    """A prefix of variable names, and what get_variable takes where it is not told."""

    def __init__(
        self,
        reuse: Any,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Partitioner | None = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: bool | None = None,
        constraint: Any = None,
    ) -> None:
        self.reuse = reuse
        self.name = name
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.original_name_scope = name_scope
        self.dtype = dtype
        self.use_resource = use_resource
        self.constraint = constraint

    def reuse_variables(self) -> None:
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self.initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        self.use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any] | None) -> None:
        self.custom_getter = custom_getter

    def get_collection(self, name: Any) -> list[Any]:
        """The members of a collection whose names begin with this scope."""
        return get_collection(name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def _get_variable(self, name: str, custom_getter: Any, options: dict[str, Any]) -> Any:
        """get_variable with the defaults of this scope. Raises ValueError."""
        for key in ("regularizer", "caching_device", "partitioner", "use_resource"):
            if options[key] is None:
                options[key] = getattr(self, key)
        options.setdefault("reuse", self.reuse)
        initializer, dtype = options["initializer"], options["dtype"]
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                own = to_tensor(initializer).dtype.base
                if own is not as_dtype(dtype).base:
                    raise ValueError(
                        f"Initializer type '{own}' and explicit dtype '{dtype}' don't match."
                    )
            for key in ("initializer", "constraint", "dtype"):
                if options[key] is None:
                    options[key] = getattr(self, key)
            full_name = f"{self.name}/{name}" if self.name else name
            return get_by_full_name(
                Wanted(full_name, **options), custom_getter or self.custom_getter
            )


def _current(state: ScopeState) -> VariableScope:
    if state.current is None:
        state.current = VariableScope(False)
    return state.current  # type: ignore[no-any-return]


def get_variable_scope() -> VariableScope:
    """The innermost open scope of this thread."""
    return _current(scope_state())


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    use_resource: bool | None = None,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Any = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
) -> Any:
    """The variable of that name in the current variable scope: a new one, or a shared one.

    Raises ValueError when it exists and may not be shared, or does not exist and must, or when
    shape or dtype do not fit.
    """
    options = dict(locals())
    del options["name"], options["custom_getter"]
    return get_variable_scope()._get_variable(name, custom_getter, options)


def get_local_variable(*args: Any, **kwargs: Any) -> Any:
    """get_variable for a variable of the collection LOCAL_VARIABLES that is not trainable."""
    given = inspect.signature(get_variable).bind(*args, **kwargs).arguments
    collections = [*(given.pop("collections", None) or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(**{**given, "collections": collections, "trainable": False})


get_local_variable.__signature__ = inspect.signature(get_variable)  # type: ignore[attr-defined]


def no_regularizer(_: Any) -> None:
    """For a scope's or a variable's `regularizer`: none, whatever the outer scope says."""


_INHERITED = (
    "initializer",
    "regularizer",
    "caching_device",
    "partitioner",
    "dtype",
    "use_resource",
)


class variable_scope:  # noqa: N801
    """`with tf.variable_scope(name_or_scope, default_name, values) as scope:` (TF: variable_scope).

    A name opens a scope in the current one, a VariableScope opens that one again. Names of ops get
    the same prefix, made unique. Raises ValueError for `reuse` without a name.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: str | None = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Partitioner | None = None,
        custom_getter: Callable[..., Any] | None = None,
        reuse: Any = None,
        dtype: Any = None,
        use_resource: bool | None = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not isinstance(name_or_scope, (VariableScope, str, type(None))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if reuse and name_or_scope is None:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(
                "The auxiliary_name_scope must be `True` or `False`, while get "
                f"{auxiliary_name_scope}"
            )
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._graph = graph_of(values)
        self._reuse = reuse or None
        self._options = dict(
            initializer=initializer,
            regularizer=regularizer,
            caching_device=caching_device,
            partitioner=partitioner,
            dtype=dtype,
            use_resource=use_resource,
        )
        self._custom_getter = custom_getter
        self._constraint = constraint
        self._auxiliary_name_scope = auxiliary_name_scope

    def __enter__(self) -> VariableScope:
        with ExitStack() as stack:
            stack.enter_context(self._graph.as_default())
            prefix = self._enter_name_scope(stack)
            scope = stack.enter_context(self._open(prefix))
            self._stack = stack.pop_all()
            return scope

    def __exit__(self, *exc: Any) -> None:
        self._stack.__exit__(*exc)

    def _enter_name_scope(self, stack: ExitStack) -> str | None:
        """Opens the name scope that goes with the variable scope, if there is one."""
        given = self._name_or_scope
        if not self._auxiliary_name_scope:
            outer = self._graph.get_name_scope()
            name: str | None = f"{outer}/" if outer else None
        elif given is None:
            name = self._default_name
        else:
            name = given if isinstance(given, str) else given.name.rpartition("/")[2]
            if not name:
                return None
        return stack.enter_context(name_scope(name))

    @contextmanager
    def _open(self, prefix: str | None) -> Iterator[VariableScope]:
        """Makes the scope current until the block ends."""
        state = scope_state(self._graph)
        outer, given = _current(state), self._name_or_scope
        again = isinstance(given, VariableScope)
        if again:
            scope = self._derived(given, given.name, given.original_name_scope)
        else:
            name = state.unique_name(self._default_name) if given is None else given
            full_name = f"{outer.name}/{name}" if outer.name else name
            scope = self._derived(outer, full_name, name if prefix is None else prefix)
        state.open(scope.name)
        counts = dict(state.counts)
        state.current = scope
        try:
            yield scope
        finally:
            if state.current is not scope:
                raise RuntimeError("Improper nesting of variable_scope.")
            state.current = outer
            if again:
                state.counts = counts
            else:
                state.close_inside(scope.name)

    def _derived(self, base: VariableScope, name: str, original: str) -> VariableScope:
        """A scope like `base`, but for what this one is told itself."""
        made = VariableScope(
            self._reuse or base.reuse,
            name=name,
            name_scope=original,
            custom_getter=_nested_getter(self._custom_getter, base.custom_getter),
            constraint=self._constraint,
        )
        for key in _INHERITED:
            own = self._options[key]
            setattr(made, key, getattr(base, key) if own is None else own)
        return made


def _nested_getter(inner: Any, outer: Any) -> Any:
    """The inner custom getter, for which the outer one is the true getter."""
    if inner is None or outer is None:
        return inner or outer

    def getter(getter: Any, *args: Any, **kwargs: Any) -> Any:
        return inner(functools.partial(outer, getter), *args, **kwargs)

    return getter


@contextmanager
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, **options: Any
) -> Iterator[VariableScope]:
    """The old order of variable_scope's arguments."""
    with variable_scope(name_or_scope, default_name, values, **options) as scope:
        yield scope


def create_partitioned_variables(
    shape: Any,
    slicing: Any,
    initializer: Any,
    dtype: Any = float32,
    trainable: bool = True,
    collections: Any = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The slices of a variable cut as `slicing` tells, as a list (deprecated in TF, too)."""
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: "
            f"{shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        options = dict(
            shape=shape, dtype=dtype, initializer=initializer, regularizer=scope.regularizer,
            reuse=scope.reuse, trainable=trainable, collections=collections,
            caching_device=scope.caching_device, partitioner=lambda **_: slicing,
            use_resource=scope.use_resource, constraint=scope.constraint,
        )  # fmt: skip
        with name_scope(None):
            return list(get_by_full_name(Wanted(scope.name, **options), None))
