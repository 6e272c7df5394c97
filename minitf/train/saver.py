"""tf.train.Saver: writes numbered checkpoints, keeps some of them, and restores them.

Its ops are made in saver_builder.py; the files are written by the ops, in the engine's storage/.
"""

from __future__ import annotations

import math
import numbers
import os
import time
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_default_graph
from minitf.proto.saver import SaverDef
from minitf.session import BaseSession
from minitf.train import checkpoint_management as management
from minitf.train.global_step import global_step as step_value
from minitf.train.saver_builder import BaseSaverBuilder, BulkSaverBuilder
from minitf.variables import global_variables
from minitf_runtime.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
)

__all__ = ["BaseSaverBuilder", "BulkSaverBuilder", "Saver", "SaverDef"]


class Saver:
    """Saves and restores variables (TF: Saver).

    `var_list` is a list of variables, a dict that gives them other names in the checkpoint, or
    None for all. `sharded` lets each device write its own. Raises ValueError for no variables or
    two of one name, TypeError for what is no variable.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        saver_def: SaverDef | None = None,
        builder: BaseSaverBuilder | None = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: int = SaverDef.V2,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: str | None = None,
    ) -> None:
        if defer_build and var_list:
            raise ValueError(
                "If `var_list` is provided then build cannot be deferred. Either set "
                "defer_build=False or var_list=None."
            )
        self._var_list = var_list
        self._reshape = reshape
        self._sharded = sharded
        self._max_to_keep = max_to_keep
        self._keep_hours = keep_checkpoint_every_n_hours
        self._name = name
        self.saver_def = saver_def
        self._builder = builder or BulkSaverBuilder(write_version)
        self._is_built = False
        self._allow_empty = allow_empty
        self._is_empty = False
        self._pad_step_number = pad_step_number
        self._save_relative_paths = save_relative_paths
        self._filename = filename
        self._last_checkpoints: list[tuple[str, float]] = []
        self._to_delete: list[tuple[str, float]] = []
        if not defer_build:
            self.build()
        if self.saver_def is not None:
            self._check_saver_def()

    def build(self) -> None:
        """Adds the ops to the default graph, unless that was done. Raises ValueError."""
        if self._is_built:
            return
        self._is_built = True
        if self.saver_def is None:
            if self._var_list is None:
                extra = get_default_graph().get_collection(GraphKeys.SAVEABLE_OBJECTS)
                self._var_list = global_variables() + extra
            self._is_empty = not self._var_list
            if self._is_empty and self._allow_empty:
                return
            if self._is_empty:
                raise ValueError("No variables to save")
            self.saver_def = self._build()
        elif self._name:
            self._move_into(self._name)
        self._check_saver_def()
        self._keep_after = time.time() + self.saver_def.keep_checkpoint_every_n_hours * 3600

    def _build(self) -> SaverDef:
        return self._builder.build(
            self._var_list,
            reshape=self._reshape,
            sharded=self._sharded,
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_hours,
            name=self._name,
            filename=self._filename,
        )

    def _move_into(self, scope: str) -> None:
        """The ops were imported under a scope: so are their names."""
        given = self.saver_def
        self.saver_def = SaverDef()
        self.saver_def.CopyFrom(given)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            setattr(self.saver_def, field, f"{scope}/{getattr(given, field)}")

    def _check_saver_def(self) -> None:
        if not isinstance(self.saver_def, SaverDef):
            raise ValueError(f"saver_def must be a saver_pb2.SaverDef: {self.saver_def}")
        for field in ("save_tensor_name", "restore_op_name"):
            if not getattr(self.saver_def, field):
                raise ValueError(f"saver_def must specify the {field}: {self.saver_def}")

    def as_saver_def(self) -> SaverDef | None:
        return self.saver_def

    def to_proto(self, export_scope: str | None = None) -> SaverDef | None:
        """The SaverDef, with names below `export_scope`; None if they are not below it."""
        if export_scope is None or self.saver_def is None:
            return self.saver_def
        prefix = export_scope.rstrip("/") + "/"
        made = SaverDef()
        made.CopyFrom(self.saver_def)
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            if not getattr(made, field).startswith(prefix):
                return None
            setattr(made, field, getattr(made, field)[len(prefix) :])
        return made

    @staticmethod
    def from_proto(saver_def: SaverDef, import_scope: str | None = None) -> Saver:
        return Saver(saver_def=saver_def, name=import_scope)

    # ---- the checkpoints that there are

    @property
    def last_checkpoints(self) -> list[str]:
        """The checkpoints not yet deleted, the oldest first."""
        return [path for path, _ in self._last_checkpoints]

    def set_last_checkpoints(self, last_checkpoints: list[str]) -> None:
        self._last_checkpoints = [(path, math.inf) for path in last_checkpoints]

    def set_last_checkpoints_with_time(self, last: list[tuple[str, float]]) -> None:
        self._last_checkpoints = list(last)

    def recover_last_checkpoints(self, checkpoint_paths: list[str]) -> None:
        """Goes on, after a restart, with those of the checkpoints that exist."""
        times = {path: management.get_checkpoint_mtimes([path]) for path in checkpoint_paths}
        self._last_checkpoints = [(path, t[0]) for path, t in times.items() if t]

    def _record(self, path: str) -> None:
        keep = self.saver_def.max_to_keep
        if not keep:
            return
        self._last_checkpoints = [c for c in self._last_checkpoints if c[0] != path]
        self._last_checkpoints.append((path, time.time()))
        if len(self._last_checkpoints) > keep:
            self._to_delete.append(self._last_checkpoints.pop(0))

    def _delete_old(self, meta_graph_suffix: str) -> None:
        """Deletes a checkpoint that is one too many, unless it is due to be kept for good."""
        if not self._to_delete:
            return
        path, written = self._to_delete.pop(0)
        if written > self._keep_after:
            self._keep_after += self.saver_def.keep_checkpoint_every_n_hours * 3600
            return
        try:
            management.remove_checkpoint(path, self.saver_def.version, meta_graph_suffix)
        except OSError as e:
            tf_logging.warning("Ignoring: %s", e)

    # ---- saving and restoring

    def save(
        self,
        sess: Any,
        save_path: str,
        global_step: Any = None,
        latest_filename: str | None = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> str | None:
        """Writes a checkpoint, its meta graph and the state file; gives the checkpoint's path.

        Raises TypeError for a `sess` that is no Session, ValueError for a path that cannot be,
        RuntimeError before build().
        """
        if not self._is_built:
            raise RuntimeError("`build()` should be called before save if defer_build==True")
        latest_filename = latest_filename or "checkpoint"
        if os.path.split(latest_filename)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        path = self._numbered(sess, save_path, global_step)
        if path == save_path and os.path.basename(path) == latest_filename and not self._sharded:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{latest_filename}' and "
                f"'{save_path}'"
            )
        _check_session(sess)
        written = None
        if not self._is_empty:
            written = self._write(sess, path)
            if write_state:
                self._record(written)
                management.update_checkpoint_state(
                    os.path.dirname(save_path),
                    written,
                    self.last_checkpoints,
                    latest_filename,
                    save_relative_paths=self._save_relative_paths,
                )
                self._delete_old(meta_graph_suffix)
        if write_meta_graph:
            with sess.graph.as_default():
                self.export_meta_graph(
                    management.meta_graph_filename(path, meta_graph_suffix),
                    strip_default_attrs=strip_default_attrs,
                )
        return written

    def _numbered(self, sess: Any, save_path: str, global_step: Any) -> str:
        if global_step is None:
            return save_path
        if not isinstance(global_step, numbers.Integral):
            global_step = step_value(sess, global_step)
        digits = "08d" if self._pad_step_number else "d"
        return f"{save_path}-{format(int(global_step), digits)}"

    def _write(self, sess: Any, path: str) -> str:
        saver_def = self.saver_def
        try:
            saved = sess.run(saver_def.save_tensor_name, {saver_def.filename_tensor_name: path})
        except (FailedPreconditionError, NotFoundError):
            if os.path.isdir(os.path.dirname(path) or "."):
                raise
            raise ValueError(f"Parent directory of {path} doesn't exist, can't save.") from None
        return saved.decode()  # type: ignore[no-any-return]

    def restore(self, sess: Any, save_path: str | None) -> None:
        """Gives the variables the values of a checkpoint; they need not be initialized before.

        Raises ValueError if there is none, NotFoundError for a variable that it lacks,
        InvalidArgumentError for one of another shape or type, DataLossError for damaged files.
        """
        if self._is_empty:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not management.checkpoint_exists(save_path):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {save_path}")
        tf_logging.info("Restoring parameters from %s", save_path)
        saver_def = self.saver_def
        try:
            sess.run(saver_def.restore_op_name, {saver_def.filename_tensor_name: save_path})
        except NotFoundError as e:
            raise _explained(e, "a Variable name or other graph key that is missing") from e
        except InvalidArgumentError as e:
            raise _explained(e, "a mismatch between the current graph and the graph") from e

    def export_meta_graph(
        self,
        filename: str | None = None,
        collection_list: list[str] | None = None,
        as_text: bool = False,
        export_scope: str | None = None,
        clear_devices: bool = False,
        clear_extraneous_savers: bool = False,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Any:
        """The default graph with this saver as a MetaGraphDef, written to a file if one is "
        "given."""
        from minitf.train.meta_graph import export_meta_graph

        return export_meta_graph(
            filename=filename,
            saver_def=self.saver_def,
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            clear_extraneous_savers=clear_extraneous_savers,
            strip_default_attrs=strip_default_attrs,
        )


def _check_session(sess: Any) -> None:
    if not isinstance(sess, BaseSession):
        raise TypeError(f"'sess' must be a Session; {sess}")


def _explained(error: OpError, reason: str) -> OpError:
    text = (
        f"Restoring from checkpoint failed. This is most likely due to {reason} from the "
        "checkpoint. Please ensure that you have not altered the graph expected based on the "
        f"checkpoint. Original error:\n\n{error.message}"
    )
    return type(error)(error.node_def, error.op, text)
