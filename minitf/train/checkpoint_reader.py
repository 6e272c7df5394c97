"""Looking into a checkpoint without a graph: NewCheckpointReader, load_variable and the like."""

from __future__ import annotations

import os
from typing import Any

from minitf.default import GraphKeys
from minitf.fetches import result
from minitf.train.checkpoint_management import latest_checkpoint
from minitf_runtime.storage.old_checkpoint import open_checkpoint
from minitf_runtime.types import DType

__all__ = [
    "CheckpointReader",
    "NewCheckpointReader",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]


class CheckpointReader:
    """The tensors of one checkpoint by name. Raises NotFoundError, DataLossError."""

    def __init__(self, filepattern: str) -> None:
        self._reader = open_checkpoint(os.fspath(filepattern))

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        return {name: list(e.shape) for name, e in self._reader.tensors().items()}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        return {name: e.dtype for name, e in self._reader.tensors().items()}

    def has_tensor(self, tensor_name: str) -> bool:
        return tensor_name in self._reader.tensors()

    def get_tensor(self, tensor_name: str) -> Any:
        return result(self._reader.read(tensor_name))

    def debug_string(self) -> bytes:
        rows = sorted(self._reader.tensors().items())
        return "".join(
            f"{n} (DT_{e.dtype.name.upper()}) {list(e.shape)}\n" for n, e in rows
        ).encode()


NewCheckpointReader = CheckpointReader


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """The reader of a checkpoint, or of the last one of a directory. Raises ValueError."""
    path = ckpt_dir_or_file
    if os.path.isdir(path):
        path = latest_checkpoint(path) or ""
    if not path:
        raise ValueError(
            f"Couldn't find 'checkpoint' file or checkpoints in given directory {ckpt_dir_or_file}"
        )
    return CheckpointReader(path)


def saved_step(checkpoint_dir: str) -> int:
    """The global step of the last checkpoint of a directory; 0 if there is none."""
    path = latest_checkpoint(checkpoint_dir)
    reader = CheckpointReader(path) if path else None
    known = reader is not None and reader.has_tensor(GraphKeys.GLOBAL_STEP)
    return int(reader.get_tensor(GraphKeys.GLOBAL_STEP)) if known else 0


def load_variable(ckpt_dir_or_file: str, name: str) -> Any:
    """The value of a variable in a checkpoint."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """(name, shape) of all variables in a checkpoint."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())
