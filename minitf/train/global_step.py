"""The global step: how many training steps were made, by all workers together."""

from __future__ import annotations

from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_default_graph
from minitf.graph import Graph
from minitf.initializers import zeros_initializer
from minitf.operation import Tensor
from minitf.variable_scope import get_variable
from minitf.variables import Variable, VariableAggregation
from minitf_runtime.types import int64

_READ = "global_step_read_op_cache"  # the collection of get_or_create_global_step_read


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The step's value in a session."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph: Graph | None = None) -> Any:
    """The global step of a graph, or None. Raises TypeError if it is no integer scalar."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        tf_logging.error("Multiple tensors in global_step collection.")
        return None
    if not found:
        try:
            found = [graph.get_tensor_by_name("global_step:0")]
        except KeyError:
            return None
    assert_global_step(found[0])
    return found[0]


def create_global_step(graph: Graph | None = None) -> Any:
    """A new global step. Raises ValueError if the graph has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')

    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=int64,
            initializer=zeros_initializer(),
            trainable=False,
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def get_or_create_global_step_read(graph: Graph | None = None) -> Any:
    """A tensor of the step's value that can be fetched before it is initialized, or None.

    Hooks fetch it with each step: the value is that before the step or after it.
    """
    graph = graph or get_default_graph()
    known = graph.get_collection(_READ)
    if len(known) > 1:
        raise RuntimeError(
            f"There are multiple items in collection {_READ}. There should be only one."
        )
    if known:
        return known[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        value = step.initialized_value() if isinstance(step, Variable) else step
        read = value + 0
    graph.add_to_collection(_READ, read)
    return read


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises TypeError for what is no integer scalar variable or tensor."""
    step = global_step_tensor
    if not isinstance(step, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {step}.')
    if not step.dtype.base.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {step.dtype}')
    if step.shape.ndims != 0 and step.shape.is_fully_defined():
        raise TypeError(f'Existing "global_step" is not scalar: {step.shape}')
