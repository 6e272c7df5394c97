"""tf.train.export_meta_graph and import_meta_graph: a graph with its collections and its saver."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_default_graph
from minitf.errors import error_code_from_exception_type, exception_type_from_error_code
from minitf.graph import Graph
from minitf.importer import import_graph_def
from minitf.node_def import set_attr
from minitf.ops.queue import QueueBase
from minitf.proto.graph import AttrValue, GraphDef
from minitf.proto.meta_graph import CollectionDef, MetaGraphDef, QueueRunnerDef, VariableDef
from minitf.proto.saver import SaverDef
from minitf.train.graph_io import read_meta_graph_file, write_message
from minitf.train.queue_runner import QueueRunner
from minitf.train.saver import Saver
from minitf.variables import Variable, global_variables
from minitf.variables.definition import variable_def, variable_of_def
from minitf_runtime.errors import UnimplementedError
from minitf_runtime.ops.registry import OPS, REQUIRED
from minitf_runtime.storage.protobuf import DecodeError

__all__ = ["export_meta_graph", "import_meta_graph"]

_VARIABLES = (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
)
# Only gradients that are made after an import would need these.
_LEFT_OUT = (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT)
_UNBOUND_INPUTS = "unbound_inputs"  # filled where a part of a graph is exported

Rename = Callable[[str], str]


def export_meta_graph(
    filename: str | None = None,
    meta_info_def: Any = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Graph | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
) -> MetaGraphDef:
    """The graph as a message, written to a file if one is named (whole or not at all).

    A collection that cannot be told in a message is left out with a warning. Raises
    UnimplementedError for the export of a part of a graph.
    """
    if export_scope or clear_extraneous_savers:
        what = "export_scope" if export_scope else "clear_extraneous_savers"
        raise UnimplementedError(None, None, f"export_meta_graph({what}=...)")
    graph = graph or get_default_graph()
    made = MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.graph_def.CopyFrom(graph_def or graph.as_graph_def(add_shapes=True))
    if clear_devices:
        _clear_devices(made.graph_def)
    if strip_default_attrs:
        _strip_defaults(made.graph_def)
    made.meta_info_def.stripped_default_attrs = strip_default_attrs
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        _export_collection(made, key, graph.get_collection(key))
    if filename:
        write_message(made, os.fspath(filename), as_text)
    return made


def _clear_devices(graph_def: GraphDef) -> None:
    for node in graph_def.node:
        node.device = ""


def _strip_defaults(graph_def: GraphDef) -> None:
    for node in graph_def.node:
        declared = OPS[node.op].attrs if node.op in OPS else {}
        for key in [k for k in node.attr if k in declared]:
            if declared[key].default is REQUIRED:
                continue
            default = AttrValue()
            set_attr(default, declared[key].default, declared[key].kind)
            if node.attr[key] == default:
                del node.attr[key]


def _same(name: str) -> str:
    return name


def _export_collection(made: MetaGraphDef, key: str, items: list[Any]) -> None:
    if not items or key in _LEFT_OUT:
        return
    collection = CollectionDef()
    try:
        _fill(collection, key, items)
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


def _fill(collection: CollectionDef, key: str, items: list[Any]) -> None:
    first = items[0]
    if key in _VARIABLES and all(isinstance(item, Variable) for item in items):
        messages = [variable_def(item, _same) for item in items]
    elif key == GraphKeys.QUEUE_RUNNERS:
        messages = [_queue_runner_def(item) for item in items]
    elif key == GraphKeys.SAVERS:
        messages = [item.to_proto() for item in items if item.to_proto() is not None]
    elif isinstance(first, (str, bytes)):
        collection.bytes_list.value.extend(items)
        return
    elif isinstance(first, int):
        collection.int64_list.value.extend(items)
        return
    elif isinstance(first, float):
        collection.float_list.value.extend(items)
        return
    else:
        collection.node_list.value.extend(item.name for item in items)
        return
    collection.bytes_list.value.extend(m.SerializeToString() for m in messages)


def _queue_runner_def(runner: QueueRunner) -> QueueRunnerDef:
    return QueueRunnerDef(
        queue_name=runner.name,
        enqueue_op_name=[op.name for op in runner.enqueue_ops],
        close_op_name=runner.close_op.name,
        cancel_op_name=runner.cancel_op.name,
        queue_closed_exception_types=[
            error_code_from_exception_type(t) for t in runner.queue_closed_exception_types
        ],
    )


# ---- import


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
) -> Any:
    """Adds the graph and its collections to the default graph; gives the Saver, or None if there
    is nothing to save (with `return_elements`: the Saver and the elements).

    Raises OSError for a file that cannot be read, ValueError for a graph that does not fit.
    """
    made = meta_graph_or_file
    if not isinstance(made, MetaGraphDef):
        made = read_meta_graph_file(os.fspath(made))
    _check_unbound(made, input_map or {})
    graph = get_default_graph()
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    graph_def = made.graph_def
    if clear_devices:
        graph_def = GraphDef()
        graph_def.CopyFrom(made.graph_def)
        _clear_devices(graph_def)
    elements = import_graph_def(graph_def, input_map, return_elements, name=import_scope or scope)

    def renamed(name: str) -> str:
        return f"{scope}/{name}" if scope else name

    variables: dict[bytes, Variable] = {}
    for key in sorted(made.collection_def):
        _import_collection(graph, key, made.collection_def[key], renamed, variables)
    saver = _saver_of(made, scope)
    return saver if return_elements is None else (saver, elements)


def _check_unbound(made: MetaGraphDef, input_map: dict[str, Any]) -> None:
    if _UNBOUND_INPUTS not in made.collection_def:
        return
    names = [v.decode() for v in made.collection_def[_UNBOUND_INPUTS].bytes_list.value]
    missing = [n for n in names if n not in input_map]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
            "through input_map."
        )


def _import_collection(
    graph: Graph,
    key: str,
    collection: CollectionDef,
    renamed: Rename,
    variables: dict[bytes, Variable],
) -> None:
    kind = collection.WhichOneof("kind")
    if key in (*_LEFT_OUT, _UNBOUND_INPUTS):
        return
    if kind is None:
        tf_logging.error("Cannot identify data type for collection %s. Skipping.", key)
        return
    for value in getattr(collection, kind).value:
        try:
            item = _item(graph, key, kind, value, renamed, variables)
        except (DecodeError, KeyError) as e:
            raise ValueError(f"collection '{key}' of the meta graph: {e}") from e
        graph.add_to_collection(key, item)


def _item(
    graph: Graph, key: str, kind: str, value: Any, renamed: Rename, variables: dict[bytes, Variable]
) -> Any:
    if kind == "node_list":
        return graph.as_graph_element(renamed(value))
    if kind != "bytes_list":
        return value
    if key in _VARIABLES:  # a variable is one object in all its collections
        if value not in variables:
            definition = VariableDef.FromString(value)
            variables[value] = variable_of_def(definition, graph, renamed)
        return variables[value]
    if key == GraphKeys.QUEUE_RUNNERS:
        return _queue_runner(QueueRunnerDef.FromString(value), graph, renamed)
    if key == GraphKeys.SAVERS:
        return Saver(saver_def=SaverDef.FromString(value), name=renamed("").rstrip("/") or None)
    return renamed(value.decode("utf-8", "surrogateescape"))


def _queue_runner(made: QueueRunnerDef, graph: Graph, renamed: Rename) -> QueueRunner:
    queue_op = graph.get_operation_by_name(renamed(made.queue_name))
    types = tuple(exception_type_from_error_code(c) for c in made.queue_closed_exception_types)
    queue = QueueBase(queue_op.get_attr("component_types"), None, None, queue_op.outputs[0])
    return QueueRunner(
        queue,
        [graph.as_graph_element(renamed(n)) for n in made.enqueue_op_name],
        graph.as_graph_element(renamed(made.close_op_name)),
        graph.as_graph_element(renamed(made.cancel_op_name)),
        types or None,
    )


def _saver_of(made: MetaGraphDef, scope: str) -> Saver | None:
    if made.HasField("saver_def"):
        return Saver(saver_def=made.saver_def, name=scope or None)
    if global_variables(scope or None):
        return Saver()
    tf_logging.info("Saver not created because there are no variables in the graph to restore")
    return None
