"""tf.saved_model.loader: brings a graph of a SavedModel into a session, with its variables."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from minitf import tf_logging
from minitf.default import get_collection, get_default_graph
from minitf.proto.meta_graph import MetaGraphDef, SavedModel
from minitf.proto.text import ParseError, merge_text
from minitf.saved_model import constants
from minitf.saved_model.assets import asset_feeds
from minitf.scoped_names import within_scope
from minitf.train.meta_graph import import_meta_graph
from minitf_runtime.errors import NotFoundError, OpError
from minitf_runtime.storage.files import read_whole
from minitf_runtime.storage.protobuf import DecodeError

__all__ = ["load", "maybe_saved_model_directory"]

_FILES = (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT)


def maybe_saved_model_directory(export_dir: Any) -> bool:
    """Whether the directory has the file of a SavedModel."""
    return any(os.path.exists(os.path.join(os.fsdecode(export_dir), name)) for name in _FILES)


def load(
    sess: Any, tags: Iterable[str], export_dir: Any, import_scope: str | None = None, **options: Any
) -> MetaGraphDef:
    """Adds the graph of exactly these tags to that of the session, restores its variables and runs
    its main op; gives the MetaGraphDef. `options` are those of tf.train.import_meta_graph.

    Raises OSError for a directory that is no model, RuntimeError if no graph has these tags,
    ValueError for a model that has lost its variables.
    """
    export_dir = os.fsdecode(export_dir)
    made = _graph_of(_read(export_dir), set(tags), export_dir)
    with sess.graph.as_default():
        saver = import_meta_graph(made, import_scope=import_scope, **options)
        if isinstance(saver, tuple):
            saver = saver[0]
        if saver is None:
            tf_logging.info(
                "The specified SavedModel has no variables; no checkpoints were restored."
            )
        else:
            directory = os.path.join(export_dir, constants.VARIABLES_DIRECTORY)
            saver.restore(sess, os.path.join(directory, constants.VARIABLES_FILENAME))
        main_op = _main_op(made, import_scope)
        if main_op is not None:
            sess.run(main_op, asset_feeds(made, export_dir, import_scope))
    return made


def _read(export_dir: str) -> SavedModel:
    for name in _FILES:
        path = os.path.join(export_dir, name)
        if not os.path.exists(path):
            continue
        try:
            data = read_whole(path)
            model = _parsed(data, as_text=name.endswith("txt"))
        except (DecodeError, ParseError, UnicodeDecodeError, OpError) as e:
            raise OSError(f"Cannot parse file {path}: {e}.") from None
        if not model.meta_graphs:
            raise OSError(f"Cannot parse file {path}: it holds no graph.")
        return model
    raise OSError(f"SavedModel file does not exist at: {export_dir}/{{{'|'.join(_FILES[::-1])}}}")


def _parsed(data: bytes, as_text: bool) -> SavedModel:
    if as_text:
        return merge_text(data.decode(), SavedModel())  # type: ignore[no-any-return]
    return SavedModel.FromString(data)  # type: ignore[no-any-return]


def _graph_of(model: SavedModel, tags: set[str], export_dir: str) -> MetaGraphDef:
    found = [sorted(made.meta_info_def.tags) for made in model.meta_graphs]
    for made in model.meta_graphs:
        if set(made.meta_info_def.tags) == tags:
            return made  # type: ignore[no-any-return]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {sorted(tags)} could not be found in SavedModel "
        f"{export_dir}.\navailable_tags: {found}"
    )


def _main_op(made: MetaGraphDef, import_scope: str | None) -> Any:
    """The op to run after loading, wherever the model tells it."""
    key = constants.INIT_OP_SIGNATURE_KEY
    if key in made.signature_def:
        name = within_scope(import_scope)(made.signature_def[key].outputs[key].name)
        try:
            return get_default_graph().as_graph_element(name)
        except KeyError as e:
            raise NotFoundError(None, None, f"{key}: {e.args[0]}") from None
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if key in made.collection_def:
            names = list(made.collection_def[key].node_list.value)
            if len(names) != 1:
                raise RuntimeError(f"Expected exactly one SavedModel init op. Found: {names}")
            return get_collection(key)[-1]
    return None
