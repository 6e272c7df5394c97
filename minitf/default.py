"""The default graph and session, and the module-level forms of Graph's methods."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitf.graph import Graph
from minitf.stacks import graph_stack, session_stack

_global_graph: Graph | None = None


def get_default_graph() -> Graph:
    """The innermost `with graph.as_default()` of this thread, else the process-wide graph."""
    global _global_graph
    top = graph_stack.top()
    if top is not None:
        return top
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph() -> None:
    """Starts a new process-wide graph. Raises AssertionError inside `with graph.as_default()`."""
    global _global_graph
    if graph_stack.top() is not None:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared "
            "graph, exit the nesting and create a new graph."
        )
    _global_graph = None


def get_default_session() -> Any:
    return session_stack.top()


def graph_of(values: Any, graph: Graph | None = None) -> Graph:
    """The one graph that all tensors among `values` belong to, else the default graph.

    While a function is built it is that of the function, which takes in tensors of others.
    """
    top = graph_stack.top()
    if top is not None and top.building_function:
        return top
    found = graph
    for v in values or ():
        g = getattr(v, "graph", None)
        if not isinstance(g, Graph):
            continue
        if found is None:
            found = g
        elif found is not g:
            raise ValueError(f"{v} must be from the same graph as the other inputs.")
    return found if found is not None else get_default_graph()


class name_scope:  # noqa: N801
    """`with tf.name_scope(name, default_name, values) as scope:` (TF: name_scope)."""

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None):
        if name is not None and not isinstance(name, (str, bytes)):
            raise TypeError("name for name_scope must be a string.")
        self._name = default_name if name is None else name
        self._values = values
        if self._name is None and values is not None:
            raise ValueError(
                f"At least one of name ({name}) and default_name ({default_name}) must be provided."
            )

    @property
    def name(self) -> Any:
        return self._name

    def __enter__(self) -> str:
        graph = graph_of(self._values)
        self._default = graph_stack.push(graph)
        self._default.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            self._default.__exit__(None, None, None)
            raise

    def __exit__(self, *exc: Any) -> None:
        self._scope.__exit__(*exc)
        self._default.__exit__(*exc)


def device(device_name_or_function: Any) -> Any:
    return get_default_graph().device(device_name_or_function)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    return get_default_graph().colocate_with(op, ignore_existing)


def control_dependencies(control_inputs: Any) -> Any:
    return get_default_graph().control_dependencies(control_inputs)


def container(container_name: str) -> Any:
    return get_default_graph().container(container_name)


def add_to_collection(name: Any, value: Any) -> None:
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Any) -> list[Any]:
    return get_default_graph().get_collection_ref(key)


@contextmanager
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> Iterator[str]:
    """The old order of name_scope's arguments (TF: op_scope)."""
    with name_scope(name, default_name, values) as scope:
        yield scope


class GraphKeys:
    """Names of the standard collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    VARIABLES = GLOBAL_VARIABLES
