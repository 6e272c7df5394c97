"""tf.saved_model.builder: writes graphs with one set of variables and assets as a SavedModel.

saved_model.pb comes last and whole: a directory without it is no model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, add_to_collection, get_collection
from minitf.operation import Operation
from minitf.proto.meta_graph import MetaGraphDef, SavedModel, SignatureDef, TensorInfo
from minitf.saved_model import constants, signature_constants, tag_constants
from minitf.saved_model.assets import save_assets
from minitf.saved_model.signature_def_utils import predict_signature_def
from minitf.train.graph_io import write_message
from minitf.train.saver import Saver
from minitf_runtime.storage.files import named

__all__ = ["SavedModelBuilder"]


class SavedModelBuilder:
    """The first graph is added with the variables of a session, the others without.

    Raises AssertionError if the directory is there and not empty.
    """

    def __init__(self, export_dir: Any) -> None:
        self._export_dir = os.fsdecode(export_dir)
        self._model = SavedModel(saved_model_schema_version=constants.SAVED_MODEL_SCHEMA_VERSION)
        self._has_variables = False
        with named(self._export_dir):
            os.makedirs(self._export_dir, exist_ok=True)
            if os.listdir(self._export_dir):
                raise AssertionError(
                    "Export directory already exists, and isn't empty. Please choose a different "
                    "export directory, or delete all the contents of the specified directory: "
                    f"{self._export_dir}"
                )

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: MutableMapping[str, SignatureDef] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph, and saves the variables and assets.

        Raises AssertionError if that was done, or for a signature of unnamed tensors; TypeError or
        ValueError for a main op that is none or one too many; OpError if a file cannot be written.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        _check_signatures(signature_def_map or {})
        saver = self._prepared(assets_collection, main_op or legacy_init_op, saver)
        directory = os.path.join(self._export_dir, constants.VARIABLES_DIRECTORY)
        with named(directory):
            os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, constants.VARIABLES_FILENAME)
        saver.save(sess, path, write_meta_graph=False, write_state=False)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)
        self._has_variables = True

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: MutableMapping[str, SignatureDef] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Operation | None = None,
        clear_devices: bool = False,
        main_op: Operation | None = None,
        strip_default_attrs: bool = False,
        saver: Saver | None = None,
    ) -> None:
        """Adds the default graph. Raises AssertionError before the variables are saved."""
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        _check_signatures(signature_def_map or {})
        saver = self._prepared(assets_collection, main_op or legacy_init_op, saver)
        self._add(saver, tags, signature_def_map, clear_devices, strip_default_attrs)

    def save(self, as_text: bool = False) -> bytes:
        """Writes the file that makes the directory a model, whole; gives its path."""
        name = (
            constants.SAVED_MODEL_FILENAME_PBTXT if as_text else constants.SAVED_MODEL_FILENAME_PB
        )
        path = os.path.join(self._export_dir, name)
        write_message(self._model, path, as_text)
        tf_logging.info("SavedModel written to: %s", path)
        return os.fsencode(path)

    def _prepared(
        self, assets: Iterable[Any] | None, main_op: Operation | None, saver: Saver | None
    ) -> Saver:
        """Puts assets and main op into their collections; gives the saver."""
        save_assets(assets, self._export_dir)
        _add_main_op(main_op)
        return saver or Saver(sharded=True, allow_empty=True)

    def _add(
        self,
        saver: Saver,
        tags: Iterable[str],
        signatures: Mapping[str, SignatureDef] | None,
        clear_devices: bool,
        strip_default_attrs: bool,
    ) -> None:
        made: MetaGraphDef = saver.export_meta_graph(
            clear_devices=clear_devices, strip_default_attrs=strip_default_attrs
        )
        made.meta_info_def.tags.extend(tags)
        made.signature_def.update(signatures or {})
        self._model.meta_graphs.append(made)


def _check_signatures(signatures: Mapping[str, SignatureDef]) -> None:
    for key, op in (
        (constants.INIT_OP_SIGNATURE_KEY, "initialization"),
        (constants.TRAIN_OP_SIGNATURE_KEY, "the train op"),
    ):
        if key in signatures:
            raise KeyError(
                f'SignatureDef map key "{key}" is reserved for {op}. Please use a different key.'
            )
    for signature in signatures.values():
        for info in (*signature.inputs.values(), *signature.outputs.values()):
            _check_info(info)


def _check_info(info: TensorInfo) -> None:
    missing = "dtype field" if info.WhichOneof("encoding") else "'encoding' fields (e.g., name)"
    if info.WhichOneof("encoding") is None or not info.dtype:
        raise AssertionError(
            f"All TensorInfo protos used in the SignatureDefs must have the {missing} set: {info}"
        )


def _add_main_op(main_op: Operation | None) -> None:
    if main_op is None:
        return
    if not isinstance(main_op, Operation):
        raise TypeError(f"main_op needs to be an Operation: {main_op!r}")
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        if get_collection(key):
            raise ValueError(
                f"Graph already contains one or more main ops under the collection {key}."
            )
    add_to_collection(constants.MAIN_OP_KEY, main_op)


def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Operation | None = None,
) -> None:
    """Writes a model of one graph, to be served: from the inputs to the outputs."""
    key = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    builder = SavedModelBuilder(export_dir)
    builder.add_meta_graph_and_variables(
        session,
        [tag_constants.SERVING],
        {key: predict_signature_def(inputs, outputs)},
        get_collection(GraphKeys.ASSET_FILEPATHS),
        main_op=legacy_init_op,
        clear_devices=True,
    )
    builder.save()
