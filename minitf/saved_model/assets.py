"""Assets of a SavedModel: files that its graphs read, found by a constant that is their path."""

from __future__ import annotations

import filecmp
import os
from collections.abc import Iterable, Mapping
from typing import Any

from minitf import tf_logging
from minitf.default import add_to_collection
from minitf.operation import Tensor
from minitf.proto.meta_graph import Any as AnyMessage
from minitf.proto.meta_graph import AssetFileDef, MetaGraphDef
from minitf.saved_model import constants
from minitf.scoped_names import within_scope
from minitf_runtime.storage.files import read_whole, write_whole
from minitf_runtime.types import string


def save_assets(tensors: Iterable[Any] | None, export_dir: str) -> None:
    """Adds the assets to their collection and copies their files. Raises TypeError, ValueError
    for a tensor that is no path, OpError for a file that cannot be copied."""
    sources: dict[str, str] = {}
    for tensor in tensors or ():
        source = _path_of(tensor)
        name = _file_name(source, sources)
        _collect(name, tensor)
        sources[name] = source
    if not sources:
        tf_logging.info("No assets to write.")
        return
    directory = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    for name, source in sources.items():
        target = os.path.join(directory, name)
        if not os.path.exists(target):  # another graph of the model may have it too
            write_whole(target, read_whole(source))
    tf_logging.info("Assets written to: %s", directory)


def _path_of(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype is not string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = tensor.op._attrs["value"]
    if value.size != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    if not value.item():
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    return os.fsdecode(value.item())


def _file_name(source: str, sources: Mapping[str, str]) -> str:
    """The name in the model: with a number if another file has it."""
    base = name = os.path.basename(source)
    if base not in sources or filecmp.cmp(source, sources[base], shallow=False):
        return base
    number = 1
    while name in sources:
        name = f"{base}_{number}"
        number += 1
    return name


def _collect(name: str, tensor: Tensor) -> None:
    made = AssetFileDef(filename=name)
    made.tensor_info.name = tensor.name
    packed = AnyMessage()
    packed.Pack(made)
    add_to_collection(constants.ASSETS_KEY, packed)


def asset_feeds(
    made: MetaGraphDef, export_dir: str, import_scope: str | None = None
) -> dict[str, str]:
    """The names of the asset tensors with the paths that their files have in this model."""
    rename = within_scope(import_scope)
    directory = os.path.join(export_dir, constants.ASSETS_DIRECTORY)
    return {
        rename(asset.tensor_info.name): os.path.join(directory, asset.filename)
        for asset in _assets(made)
    }


def _assets(made: MetaGraphDef) -> list[AssetFileDef]:
    if made.asset_file_def or constants.ASSETS_KEY not in made.collection_def:
        return list(made.asset_file_def)
    found = []
    for packed in made.collection_def[constants.ASSETS_KEY].any_list.value:
        asset = AssetFileDef()
        if packed.Unpack(asset):
            found.append(asset)
    return found
