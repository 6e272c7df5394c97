"""Checkpoints and other files as ops. The formats are in storage/."""

from __future__ import annotations

import glob
import os
from typing import Any

import numpy as np

from minitf_runtime.errors import InvalidArgumentError, UnimplementedError, invalid
from minitf_runtime.ops.registry import (
    ShapeContext,
    Types,
    kernel,
    no_outputs,
    op,
    scalar,
)
from minitf_runtime.ops.strings import string_scalar, string_vector
from minitf_runtime.storage import slices
from minitf_runtime.storage.bundle import BundleReader, Piece, merge_bundles, write_bundle
from minitf_runtime.storage.files import read_whole, write_whole
from minitf_runtime.storage.old_checkpoint import open_checkpoint
from minitf_runtime.types import DType, Shape, c_name, merge_shapes

_FILES = dict(host_inputs="prefix tensor_names shape_and_slices tensors")

# ---- checkpoints


@op(
    "SaveV2",
    "prefix: string, tensor_names: string, shape_and_slices: string, tensors: dtypes ->",
    stateful=True,
    dtypes=Types(minimum=1),
)
def save_shape(c: ShapeContext) -> list[Shape]:
    """Writes tensors, or slices of tensors, to a checkpoint."""
    c.rank(0, 0)
    c.rank(1, 1)
    c.rank(2, 1)
    return []


@kernel("SaveV2", **_FILES)
def save(
    xp: Any, prefix: Any, names: Any, specs: Any, tensors: Any, *, dtypes: list[DType]
) -> None:
    if not len(names) == len(specs) == len(tensors):
        raise invalid(
            f"Got {len(names)} tensor names and {len(specs)} slices but {len(tensors)} tensors"
        )
    pieces = [
        _piece(name, spec.decode(), tensor, dtype)
        for name, spec, tensor, dtype in zip(names, specs, tensors, dtypes)
    ]
    write_bundle(_path(prefix), pieces)


def _piece(name: bytes, spec: str, tensor: Any, dtype: DType) -> Piece:
    if not spec:
        return Piece(name, tensor, dtype)
    shape, box = slices.parse_spec(spec)
    if box.within(shape).lengths != np.shape(tensor):
        raise invalid(
            f"Slice in shape_and_slice specification does not match the shape of the tensor to "
            f"save: {spec}, tensor: {list(np.shape(tensor))}"
        )
    return Piece(name, tensor, dtype, shape, box)


op(
    "SaveSlices",
    "filename: string, tensor_names: string, shapes_and_slices: string, data: T ->",
    no_outputs,
    stateful=True,
    T=Types(minimum=1),
)


@kernel("SaveSlices")
def save_slices(xp: Any, filename: Any, names: Any, specs: Any, data: Any) -> None:
    """Graphs that save in the old format can be imported and restored."""
    raise UnimplementedError(None, None, "SaveSlices: checkpoints are written in format V2 only")


@op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: dtypes",
    stateful=True,
    dtypes=Types(minimum=1),
)
def restore_shape(c: ShapeContext) -> list[Shape]:
    """Reads tensors, or slices of tensors, from a checkpoint."""
    c.rank(0, 0)
    merge_shapes(c.rank(1, 1), c.rank(2, 1))
    specs = c.value(2)
    if specs is None:
        return [None] * len(c["dtypes"])
    return [_restored_shape(spec.decode()) for spec in specs]


def _restored_shape(spec: str) -> Shape:
    if not spec:
        return None
    try:
        shape, box = slices.parse_spec(spec)
        return box.within(shape).lengths
    except InvalidArgumentError as e:
        raise ValueError(e.message) from None


@kernel("RestoreV2", **_FILES)
def restore(xp: Any, prefix: Any, names: Any, specs: Any, *, dtypes: list[DType]) -> Any:
    reader = open_checkpoint(_path(prefix))
    return tuple(
        _restored(reader, name.decode(), spec.decode(), dtype)
        for name, spec, dtype in zip(names, specs, dtypes)
    )


def _restored(reader: BundleReader, name: str, spec: str, dtype: DType) -> np.ndarray:
    entry = reader.entry(name)
    if entry.dtype is not dtype:
        raise invalid(
            f"tensor_name = {name}; expected dtype {c_name(dtype)} does not equal original dtype "
            f"{c_name(entry.dtype)}"
        )
    if not spec:
        return reader.read(name)
    shape, box = slices.parse_spec(spec)
    if shape != entry.shape:
        raise invalid(
            f"tensor_name = {name}; shape in shape_and_slice spec {list(shape)} does not match "
            f"the shape stored in checkpoint: {list(entry.shape)}"
        )
    return reader.read(name, box)


@op(
    "MergeV2Checkpoints",
    "checkpoint_prefixes: string, destination_prefix: string ->",
    stateful=True,
    delete_old_dirs=True,
)
def merge_shape(c: ShapeContext) -> list[Shape]:
    """Makes one checkpoint of several, by moving their data files and joining their indexes."""
    c.rank(0, 1)
    c.rank(1, 0)
    return []


@kernel("MergeV2Checkpoints", host_inputs="checkpoint_prefixes destination_prefix")
def merge(xp: Any, prefixes: Any, destination: Any, *, delete_old_dirs: bool) -> None:
    merge_bundles([os.fsdecode(p) for p in prefixes], _path(destination), delete_old_dirs)


op("ShardedFilename", "basename: string, shard: int32, num_shards: int32 -> filename: string",
   scalar)  # fmt: skip
op("ShardedFilespec", "basename: string, num_shards: int32 -> filename: string", scalar)


@kernel("ShardedFilename", host_inputs="basename shard num_shards")
def sharded_filename(xp: Any, basename: Any, shard: Any, num_shards: Any) -> Any:
    """The file of one shard: name-00001-of-00003."""
    return string_scalar(f"{_path(basename)}-{int(shard):05d}-of-{int(num_shards):05d}".encode())


@kernel("ShardedFilespec", host_inputs="basename num_shards")
def sharded_filespec(xp: Any, basename: Any, num_shards: Any) -> Any:
    """All of them: name-?????-of-00003."""
    return string_scalar(f"{_path(basename)}-?????-of-{int(num_shards):05d}".encode())


# ---- whole files

op("ReadFile", "filename: string -> contents: string", scalar)
op("WriteFile", "filename: string, contents: string ->", no_outputs, stateful=True)


@op("MatchingFiles", "pattern: string -> filenames: string")
def matching_files_shape(c: ShapeContext) -> list[Shape]:
    """The names of the files that match a pattern, or one of several."""
    return [(None,)]


@kernel("ReadFile")
def read_file(xp: Any, filename: Any) -> Any:
    return string_scalar(read_whole(_path(filename)))


@kernel("WriteFile")
def write_file(xp: Any, filename: Any, contents: Any) -> None:
    write_whole(_path(filename), np.asarray(contents, object).item())


@kernel("MatchingFiles")
def matching_files(xp: Any, pattern: Any) -> Any:
    patterns = np.asarray(pattern, object).ravel().tolist()
    found = sorted(path for p in patterns for path in glob.glob(p))
    return string_vector(found)


def _path(filename: Any) -> str:
    return os.fsdecode(np.asarray(filename, object).item())
