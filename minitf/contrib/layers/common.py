"""What contrib's layers share: how variables are named and collected, and outputs finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.contrib.framework.variables import model_variable
from minitf.default import add_to_collection, add_to_collections, get_collection
from minitf.variables.base import VariableAggregation, VariableSynchronization
from minitf.variables.partitioned import PartitionedVariable

NHWC, NCHW = "NHWC", "NCHW"


def variable_getter(rename: dict[str, str] | None = None) -> Callable[..., Any]:
    """A custom getter for layers of tf.layers: makes model variables, under contrib's names."""

    def getter(
        getter: Callable[..., Any],
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        **_: Any,
    ) -> Any:
        *scopes, last = name.split("/")
        return model_variable(
            "/".join([*scopes, (rename or {}).get(last, last)]),
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=collections,
            trainable=trainable,
            caching_device=caching_device,
            partitioner=partitioner,
            custom_getter=getter,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )

    return getter


def collections_of(given: Any, name: str) -> Any:
    """The collections for the variables of that name: a list for all, or a dict by name."""
    return given.get(name) if isinstance(given, dict) else given


def collect(variable: Any, given: Any, name: str) -> None:
    """Adds a variable to its collections, if it is not there."""
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in collections_of(given, name) or ():
        for part in parts:
            if part not in get_collection(collection):
                add_to_collection(collection, part)


def finished(outputs: Any, activation_fn: Any, collections: Any, scope: str) -> Any:
    """The outputs, activated, and in their collections under the scope's name as an alias."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    if collections:
        outputs.aliases = [*getattr(outputs, "aliases", ()), scope.removesuffix("/")]
        add_to_collections(collections, outputs)
    return outputs


def normalized(outputs: Any, normalizer_fn: Any, normalizer_params: Any) -> Any:
    """The outputs after the normalizer of a layer, if it has one."""
    return normalizer_fn(outputs, **normalizer_params or {}) if normalizer_fn else outputs


def check_layout(data_format: Any) -> None:
    """Raises ValueError for what is neither NHWC nor NCHW."""
    if data_format not in (NCHW, NHWC):
        raise ValueError("data_format has to be either NCHW or NHWC.")


def layer_layout(data_format: str | None) -> str:
    """The layout as tf.layers names it."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def channels_of(inputs: Any, data_format: str = NHWC) -> int:
    """The number of channels. Raises ValueError if the rank or that number is not known."""
    if inputs.shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    size = inputs.shape[1 if data_format == NCHW else -1].value
    if size is None:
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension.")
    return size  # type: ignore[no-any-return]
