"""The ops of a Saver: one checkpoint of all variables, or one shard for each device, merged."""

from __future__ import annotations

import uuid
from typing import Any

from minitf.convert import constant
from minitf.default import control_dependencies, device, get_default_graph, name_scope
from minitf.device_spec import DeviceSpec
from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.ops.filling import placeholder_with_default
from minitf.ops.group import group, with_dependencies
from minitf.ops.shapes import shape
from minitf.ops.strings import string_join
from minitf.proto.saver import SaverDef
from minitf.train.saveable import SaveableObject, SaveSpec, saveables_of
from minitf.variables.partitioned import PartitionedVariable
from minitf_runtime.errors import UnimplementedError

Shards = list[tuple[str, list[SaveableObject]]]


class BaseSaverBuilder:
    """Builds save and restore ops; each tensor is read by an op of its own."""

    SaveSpec = SaveSpec
    SaveableObject = SaveableObject

    def __init__(self, write_version: int = SaverDef.V2) -> None:
        """Raises UnimplementedError for the old format V1."""
        if write_version != SaverDef.V2:
            raise UnimplementedError(
                None, None, f"checkpoints are written in format V2 only, not in V{write_version}"
            )
        self._write_version = write_version

    def save_op(self, filename_tensor: Tensor, saveables: list[SaveableObject]) -> Operation:
        specs = [spec for s in saveables for spec in s.specs]
        names = [s.name for s in specs]
        slices = [s.slice_spec for s in specs]
        return apply_op(  # type: ignore[no-any-return]
            "SaveV2", filename_tensor, names, slices, [s.tensor for s in specs]
        )

    def restore_op(self, filename_tensor: Tensor, saveable: SaveableObject) -> list[Tensor]:
        return [_restored(filename_tensor, [spec])[0] for spec in saveable.specs]

    def bulk_restore(
        self, filename_tensor: Tensor, saveables: list[SaveableObject]
    ) -> list[Tensor]:
        """The tensors of all saveables, read next to where they are wanted."""
        tensors = []
        for saveable in saveables:
            with device(_on_cpu0(saveable.device) if saveable.device else None):
                tensors += self.restore_op(filename_tensor, saveable)
        return tensors

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        filename: str | None = "model",
    ) -> SaverDef:
        """Adds the ops to the default graph and tells their names."""
        saveables = saveables_of(names_to_saveables)
        graph = get_default_graph()
        ops = [s.op for s in saveables]
        with graph.role_scope("save"), name_scope(name, "save", ops):
            path = placeholder_with_default(filename or "model", shape=(), name="filename")
            path = placeholder_with_default(path, shape=(), name="Const")
            if sharded:
                shards = _by_device(saveables)
                saved = self._save_shards(path, shards)
                restored = self._restore_shards(path, shards, reshape)
            else:
                saved = self._save(path, saveables)
                restored = self._restore(path, saveables, reshape)
        _name_partitioned_variables()
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )

    def _save(self, path: Tensor, saveables: list[SaveableObject]) -> Tensor:
        """The path, once the checkpoint is written."""
        return with_dependencies([self.save_op(path, saveables)], path)  # type: ignore[no-any-return]

    def _save_shards(self, prefix: Tensor, shards: Shards) -> Tensor:
        """The prefix, once each device has written its shard and the shards are merged."""
        temporary = string_join([prefix, f"_temp_{uuid.uuid4().hex}/part"])
        count = constant(len(shards), name="num_shards")
        paths = []
        saves = []
        for shard, (where, saveables) in enumerate(shards):
            with device(_on_cpu0(where)):
                paths.append(apply_op("ShardedFilename", temporary, shard, count))
                saves.append(self._save(paths[-1], saveables))
        with control_dependencies([s.op for s in saves]), device(_on_cpu0(shards[-1][0])):
            merge = apply_op("MergeV2Checkpoints", paths, prefix, delete_old_dirs=True)
            with control_dependencies([merge]):
                return apply_op("Identity", prefix)  # type: ignore[no-any-return]

    def _restore(
        self,
        path: Tensor,
        saveables: list[SaveableObject],
        reshape: bool,
        name: str = "restore_all",
    ) -> Operation:
        tensors = iter(self.bulk_restore(path, saveables))
        assigns = []
        for saveable in saveables:
            shapes = [_shape_of(s.tensor) for s in saveable.specs] if reshape else None
            mine = [next(tensors) for _ in saveable.specs]
            assigns.append(saveable.restore(mine, shapes))
        return group(*assigns, name=name)

    def _restore_shards(self, path: Tensor, shards: Shards, reshape: bool) -> Operation:
        restores = []
        for where, saveables in shards:
            with device(where):
                restores.append(self._restore(path, saveables, reshape, "restore_shard"))
        return group(*restores, name="restore_all")


class BulkSaverBuilder(BaseSaverBuilder):
    """Builds one op that reads all tensors (of a shard)."""

    def bulk_restore(
        self, filename_tensor: Tensor, saveables: list[SaveableObject]
    ) -> list[Tensor]:
        with device("cpu:0"):
            return _restored(filename_tensor, [spec for s in saveables for spec in s.specs])


def _restored(path: Tensor, specs: list[SaveSpec]) -> list[Tensor]:
    names = [s.name for s in specs]
    slices = [s.slice_spec for s in specs]
    types = [s.dtype for s in specs]
    return apply_op("RestoreV2", path, names, slices, dtypes=types)  # type: ignore[no-any-return]


def _shape_of(tensor: Any) -> Any:
    known = tensor.get_shape()
    return known if known.is_fully_defined() else shape(tensor)


def _by_device(saveables: list[SaveableObject]) -> Shards:
    """The saveables of each requested device. Raises ValueError for one on several."""
    shards: dict[str, list[SaveableObject]] = {}
    for saveable in saveables:
        places = {DeviceSpec.from_string(spec.tensor.device).to_string() for spec in saveable.specs}
        if len(places) != 1:
            raise ValueError(
                f"All tensors of a saveable object must be on the same device: {saveable.name}"
            )
        shards.setdefault(places.pop(), []).append(saveable)
    return sorted(shards.items())


def _on_cpu0(where: str) -> str:
    return DeviceSpec.from_string(where).replace(device_type="CPU", device_index=0).to_string()


def _name_partitioned_variables() -> None:
    """A partitioned variable in a collection is exported by the tensor of its name: make it."""
    graph = get_default_graph()
    for key in graph.get_all_collection_keys():
        for item in graph.get_collection(key):
            if isinstance(item, PartitionedVariable) and item.name not in graph._by_name:
                item.as_tensor()
