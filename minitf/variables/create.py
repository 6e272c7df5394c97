"""What tf.Variable(...) does: asks the variable creators, and chooses the kind of variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from minitf.variables.base import Variable, VariableAggregation, VariableSynchronization
from minitf.variables.ref import RefVariable
from minitf.variables.resource import ResourceVariable
from minitf.variables.scopes import scope_state

_resource_by_default = False


def enable_resource_variables() -> None:
    """Makes variables resource variables where `use_resource` is not given."""
    global _resource_by_default
    _resource_by_default = True


def disable_resource_variables() -> None:
    """Makes variables reference variables where `use_resource` is not given: the default."""
    global _resource_by_default
    _resource_by_default = False


def resource_variables_enabled() -> bool:
    return _resource_by_default


def create_variable(
    initial_value: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    validate_shape: bool = True,
    caching_device: Any = None,
    name: str | None = None,
    variable_def: Any = None,
    dtype: Any = None,
    expected_shape: Any = None,
    import_scope: str | None = None,
    constraint: Callable[[Any], Any] | None = None,
    use_resource: bool | None = None,
    synchronization: VariableSynchronization = VariableSynchronization.AUTO,
    aggregation: VariableAggregation = VariableAggregation.NONE,
    shape: Any = None,
) -> Any:
    """A new variable, made by the innermost creator of variable_creator_scope."""
    create: Callable[..., Any] = default_variable_creator
    for creator in scope_state().creators:
        create = partial(creator, create)
    return create(
        initial_value=initial_value,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        caching_device=caching_device,
        name=name,
        variable_def=variable_def,
        dtype=dtype,
        expected_shape=expected_shape,
        import_scope=import_scope,
        constraint=constraint,
        use_resource=use_resource,
        synchronization=synchronization,
        aggregation=aggregation,
        shape=shape,
    )


_OPTIONS = (
    "initial_value", "trainable", "collections", "validate_shape", "caching_device", "name",
    "dtype", "constraint", "synchronization", "aggregation", "shape",
)  # fmt: skip


def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    """Makes a RefVariable or a ResourceVariable; options that neither has are left out."""
    made = kwargs.get("variable_def")
    if made is not None:
        if kwargs.get("initial_value") is not None:
            raise ValueError("variable_def and initial_value are mutually exclusive.")
        return Variable.from_proto(made, kwargs.get("import_scope"))
    use_resource = kwargs.get("use_resource")
    scope = scope_state().current
    if use_resource is None and scope is not None:
        use_resource = scope.use_resource
    if use_resource is None:
        use_resource = _resource_by_default
    kind = ResourceVariable if use_resource else RefVariable
    return kind(**{key: kwargs[key] for key in _OPTIONS if key in kwargs})


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
    """Lets `variable_creator(next_creator, **kwargs)` make the variables of the scope."""
    creators = scope_state().creators
    creators.append(variable_creator)
    try:
        yield
    finally:
        creators.pop()
