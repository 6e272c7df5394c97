"""tf.train.export_meta_graph and import_meta_graph: a graph with its collections and its saver.

The parts: graph_part.py cuts GraphDefs, collection_def.py tells collections.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_default_graph
from minitf.graph import Graph
from minitf.importer import import_graph_def
from minitf.proto.graph import GraphDef
from minitf.proto.meta_graph import MetaGraphDef
from minitf.proto.saver import SaverDef
from minitf.train.collection_def import UNBOUND_INPUTS, export_collection, import_collections
from minitf.train.graph_io import graph_of_file, read_meta_graph_file, write_message
from minitf.train.graph_part import clear_devices as without_devices
from minitf.train.graph_part import other_savers, part_of, strip_defaults
from minitf.train.saver import Saver
from minitf.variables import global_variables
from minitf_runtime.version import API_VERSION

__all__ = ["export_meta_graph", "import_meta_graph"]


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

    With `export_scope` only the ops of that scope, named without it; their inputs from elsewhere
    are listed in the collection unbound_inputs. A collection that cannot be told in a message is
    left out with a warning.
    """
    graph = graph or get_default_graph()
    made = MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.meta_info_def.tensorflow_version = API_VERSION
    made.graph_def.CopyFrom(graph_def or graph.as_graph_def(add_shapes=True))
    left_out: set[str] = set()
    if clear_extraneous_savers:
        left_out = other_savers(made.graph_def, saver_def)
    if export_scope or left_out:
        part, unbound = part_of(made.graph_def, export_scope, left_out)
        made.graph_def.CopyFrom(part)
        if unbound:
            made.collection_def[UNBOUND_INPUTS].bytes_list.value.extend(unbound)
    if clear_devices:
        without_devices(made.graph_def)
    if strip_default_attrs:
        strip_defaults(made.graph_def)
    made.meta_info_def.stripped_default_attrs = strip_default_attrs
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        items = graph.get_collection(key)
        if clear_extraneous_savers and key == GraphKeys.SAVERS:
            items = [] if saver_def is None else [Saver.from_proto(saver_def)]
        export_collection(made, key, items, export_scope, left_out)
    if filename:
        write_message(made, os.fspath(filename), as_text)
    return made


def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
) -> Any:
    """Adds the graph and its collections to the default graph; gives the Saver, or None if there
    is nothing to save (with `return_elements`: the Saver and the elements).

    Raises OSError for a file that cannot be read, ValueError for a graph that does not fit, or
    whose unbound inputs are not all in `input_map`.
    """
    if not isinstance(meta_graph_or_file, MetaGraphDef):
        file = os.fspath(meta_graph_or_file)
        made = read_meta_graph_file(file)
        with graph_of_file(file):
            return import_meta_graph(made, clear_devices, import_scope, input_map, return_elements)
    made = meta_graph_or_file
    _check_unbound(made, input_map or {})
    graph = get_default_graph()
    scope = graph.unique_name(import_scope or "", mark_as_used=False)
    graph_def = made.graph_def
    if clear_devices:
        graph_def = GraphDef()
        graph_def.CopyFrom(made.graph_def)
        without_devices(graph_def)
    elements = import_graph_def(graph_def, input_map, return_elements, name=import_scope or scope)
    import_collections(made, graph, scope)
    saver = _saver_of(made, scope)
    return saver if return_elements is None else (saver, elements)


def _check_unbound(made: MetaGraphDef, input_map: Mapping[str, Any]) -> None:
    if UNBOUND_INPUTS not in made.collection_def:
        return
    names = [v.decode() for v in made.collection_def[UNBOUND_INPUTS].bytes_list.value]
    missing = [n for n in names if n not in input_map]
    if missing:
        raise ValueError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs "
            "through input_map."
        )


def _saver_of(made: MetaGraphDef, scope: str) -> Saver | None:
    if made.HasField("saver_def"):
        return Saver(saver_def=made.saver_def, name=scope.rstrip("/") or None)
    if global_variables(scope or None):
        return Saver()
    tf_logging.info("Saver not created because there are no variables in the graph to restore")
    return None
