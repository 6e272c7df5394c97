"""Collections of a graph as CollectionDef messages, and back."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any, NamedTuple

from minitf import tf_logging
from minitf.default import GraphKeys
from minitf.graph import Graph
from minitf.ops.context_def import context_def, context_of_def
from minitf.proto.control_flow import CondContextDef, WhileContextDef
from minitf.proto.message import Message
from minitf.proto.meta_graph import Any as AnyMessage
from minitf.proto.meta_graph import CollectionDef, MetaGraphDef, QueueRunnerDef, VariableDef
from minitf.proto.saver import SaverDef
from minitf.scoped_names import is_below, within_scope, without_scope
from minitf.train.queue_runner import QueueRunner
from minitf.train.saver import Saver
from minitf.variables import Variable
from minitf_runtime.storage.protobuf import DecodeError

UNBOUND_INPUTS = "unbound_inputs"
_FIRST_WITH_TRAINABLE = (1, 9)  # the first TensorFlow whose VariableDefs say `trainable`


class _Form(NamedTuple):
    """How the items of a collection are told in messages."""

    message: type[Message]
    write: Callable[[Any, str | None], Any]  # None for an item that is not in the scope
    read: Callable[[Any, str | None], Any]


_VARIABLE = _Form(VariableDef, lambda v, scope: v.to_proto(scope), Variable.from_proto)
_FORMS = {
    GraphKeys.GLOBAL_VARIABLES: _VARIABLE,
    GraphKeys.LOCAL_VARIABLES: _VARIABLE,
    GraphKeys.MODEL_VARIABLES: _VARIABLE,
    GraphKeys.TRAINABLE_VARIABLES: _VARIABLE,
    GraphKeys.MOVING_AVERAGE_VARIABLES: _VARIABLE,
    GraphKeys.METRIC_VARIABLES: _VARIABLE,
    GraphKeys.GLOBAL_STEP: _VARIABLE,
    GraphKeys.QUEUE_RUNNERS: _Form(QueueRunnerDef, QueueRunner.to_proto, QueueRunner.from_proto),
    GraphKeys.SAVERS: _Form(SaverDef, Saver.to_proto, Saver.from_proto),
    GraphKeys.COND_CONTEXT: _Form(CondContextDef, context_def, context_of_def),
    GraphKeys.WHILE_CONTEXT: _Form(WhileContextDef, context_def, context_of_def),
}


# ---- export


def export_collection(
    made: MetaGraphDef, key: str, items: list[Any], scope: str | None, left_out: Container[str]
) -> None:
    """Adds the items below the scope; a collection that no message can tell is left out."""
    items = [item for item in items if _is_kept(item, scope, left_out)]
    if not items:
        return
    collection = CollectionDef()
    try:
        _fill(collection, key, items, scope)
    except (AttributeError, TypeError, ValueError) as e:
        tf_logging.warning(
            "Issue encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.\n%s",
            key,
            e,
        )
        return
    made.collection_def.update({key: collection})


def _is_kept(item: Any, scope: str | None, left_out: Container[str]) -> bool:
    """Whether to export an item; what has no name is exported always."""
    name = item if isinstance(item, str) else getattr(item, "name", None)
    return not isinstance(name, str) or (name not in left_out and is_below(name, scope))


def _fill(collection: CollectionDef, key: str, items: list[Any], scope: str | None) -> None:
    first, form = items[0], _FORMS.get(key)
    if form is not None and (form is not _VARIABLE or isinstance(first, Variable)):
        messages = [form.write(item, scope) for item in items]
        texts = (m.SerializeToString() for m in messages if m is not None)
        collection.bytes_list.value.extend(texts)
    elif isinstance(first, (str, bytes)):
        collection.bytes_list.value.extend(items)
    elif isinstance(first, int):
        collection.int64_list.value.extend(items)
    elif isinstance(first, float):
        collection.float_list.value.extend(items)
    elif isinstance(first, AnyMessage):
        collection.any_list.value.extend(items)
    else:
        rename = without_scope(scope)
        collection.node_list.value.extend(rename(item.name) for item in items)


# ---- import


def import_collections(made: MetaGraphDef, graph: Graph, scope: str | None) -> None:
    """Adds what the collections name, below the scope, to those of the (default) graph.

    Raises ValueError for one that does not fit the graph.
    """
    reader = _Reader(graph, scope, _tells_trainable(made))
    for key in sorted(made.collection_def, key=lambda k: (k != GraphKeys.TRAINABLE_VARIABLES, k)):
        if key == UNBOUND_INPUTS:
            continue
        collection = made.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind is None:
            tf_logging.error("Cannot identify data type for collection %s. Skipping.", key)
            continue
        for value in getattr(collection, kind).value:
            try:
                item = reader.item(key, kind, value)
            except (DecodeError, KeyError, ValueError) as e:
                text = e.args[0] if isinstance(e, KeyError) else e
                raise ValueError(f"collection '{key}' of the meta graph: {text}") from e
            graph.add_to_collection(key, item)


def _tells_trainable(made: MetaGraphDef) -> bool:
    version = made.meta_info_def.tensorflow_version.split(".")[:2]
    if not all(part.isdecimal() for part in version):
        return True
    return not version or tuple(map(int, version)) >= _FIRST_WITH_TRAINABLE


class _Reader:
    """Finds the objects that the items of one meta graph mean."""

    def __init__(self, graph: Graph, scope: str | None, tells_trainable: bool) -> None:
        self._graph = graph
        self._scope = scope
        self._rename = within_scope(scope)
        self._tells_trainable = tells_trainable
        self._variables: dict[bytes, Variable] = {}  # one object for all collections

    def item(self, key: str, kind: str, value: Any) -> Any:
        if kind == "node_list":
            return self._graph.as_graph_element(self._rename(value))
        if kind != "bytes_list":
            return value
        form = _FORMS.get(key)
        if form is _VARIABLE:
            return self._variable(key, value)
        if form is not None:
            return form.read(form.message.FromString(value), self._scope)
        return self._rename(value.decode("utf-8", "surrogateescape"))

    def _variable(self, key: str, value: bytes) -> Variable:
        if value not in self._variables:
            made = VariableDef.FromString(value)
            if not self._tells_trainable:
                made.trainable = key == GraphKeys.TRAINABLE_VARIABLES
            self._variables[value] = Variable.from_proto(made, self._scope)
        return self._variables[value]
