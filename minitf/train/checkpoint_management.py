"""Which checkpoints a directory has: the file `checkpoint`, and the files of one checkpoint."""

from __future__ import annotations

import glob
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator

from minitf import tf_logging
from minitf.proto.saver import CheckpointState, SaverDef
from minitf.proto.text import ParseError, merge_text
from minitf_runtime.errors import OpError
from minitf_runtime.storage.bundle import index_path
from minitf_runtime.storage.files import read_whole, write_whole

__all__ = [
    "checkpoint_exists",
    "checkpoints_iterator",
    "generate_checkpoint_state_proto",
    "get_checkpoint_mtimes",
    "get_checkpoint_state",
    "latest_checkpoint",
    "remove_checkpoint",
    "update_checkpoint_state",
]

_STATE_FILE = "checkpoint"
_SECONDS_BETWEEN_LOOKS = 1.0  # for a new checkpoint


def generate_checkpoint_state_proto(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Iterable[str] | None = None,
    all_model_checkpoint_timestamps: Iterable[float] | None = None,
    last_preserved_timestamp: float | None = None,
) -> CheckpointState:
    """What the state file says; below a relative `save_dir`, with paths relative to it.

    Raises ValueError for timestamps of another number than paths.
    """
    paths = list(all_model_checkpoint_paths or [])
    times = list(all_model_checkpoint_timestamps or [])
    if not paths or paths[-1] != model_checkpoint_path:
        tf_logging.info(
            "%s is not in all_model_checkpoint_paths. Manually adding it.", model_checkpoint_path
        )
        paths.append(model_checkpoint_path)
    if times and len(times) != len(paths):
        raise ValueError(
            "Checkpoint timestamps, if provided, must match checkpoint paths (got paths "
            f"{paths} and timestamps {times})"
        )
    if not os.path.isabs(save_dir):
        model_checkpoint_path = _relative(model_checkpoint_path, save_dir, False)
        paths = [_relative(p, save_dir, False) for p in paths]
    return CheckpointState(
        model_checkpoint_path=model_checkpoint_path,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def _relative(path: str, directory: str, absolute: bool) -> str:
    """A path that is (or is not) absolute as one below the directory; others as they are."""
    return os.path.relpath(path, directory) if os.path.isabs(path) == absolute else path


def update_checkpoint_state(
    save_dir: str,
    model_checkpoint_path: str,
    all_model_checkpoint_paths: Iterable[str] | None = None,
    latest_filename: str | None = None,
    all_model_checkpoint_timestamps: Iterable[float] | None = None,
    last_preserved_timestamp: float | None = None,
    save_relative_paths: bool = False,
) -> None:
    """Replaces the state file, whole. Raises RuntimeError if it has the checkpoint's own name."""
    paths = list(all_model_checkpoint_paths or [])
    last = model_checkpoint_path
    if save_relative_paths:
        last = _relative(last, save_dir, True)
        paths = [_relative(p, save_dir, True) for p in paths]
    state = generate_checkpoint_state_proto(
        save_dir, last, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    file = _state_file(save_dir, latest_filename)
    if file == state.model_checkpoint_path:
        raise RuntimeError(
            f"Save path '{model_checkpoint_path}' conflicts with path used for checkpoint state.  "
            "Please use a different save path."
        )
    write_whole(file, str(state).encode())


def _state_file(directory: str, latest_filename: str | None) -> str:
    return os.path.join(directory, latest_filename or _STATE_FILE)


def get_checkpoint_state(
    checkpoint_dir: str, latest_filename: str | None = None
) -> CheckpointState | None:
    """What the state file says, with paths from here; None if there is none that can be read.

    Raises ValueError for one that names no checkpoint.
    """
    file = _state_file(checkpoint_dir, latest_filename)
    if not os.path.exists(file):
        return None
    try:
        state: CheckpointState = merge_text(read_whole(file).decode(), CheckpointState())
    except (OpError, ParseError, UnicodeDecodeError) as e:
        tf_logging.warning("%s: %s", type(e).__name__, e)
        tf_logging.warning("%s: Checkpoint ignored", file)
        return None
    if not state.model_checkpoint_path:
        raise ValueError(f"Invalid checkpoint state loaded from {checkpoint_dir}")
    state.model_checkpoint_path = os.path.join(checkpoint_dir, state.model_checkpoint_path)
    paths = state.all_model_checkpoint_paths
    paths[:] = [os.path.join(checkpoint_dir, p) for p in paths]
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """The path of the last checkpoint of a directory, or None."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    if checkpoint_exists(state.model_checkpoint_path):
        return state.model_checkpoint_path
    tf_logging.error("Couldn't match files for checkpoint %s", state.model_checkpoint_path)
    return None


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Whether there is a checkpoint of that path (which may be a pattern)."""
    return bool(glob.glob(index_path(checkpoint_prefix)) or glob.glob(checkpoint_prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[str]) -> list[float]:
    """The times at which those of the checkpoints that exist were written."""
    times = []
    for prefix in checkpoint_prefixes:
        found = glob.glob(index_path(prefix)) or glob.glob(prefix)
        times += [os.path.getmtime(found[0])] if found else []
    return times


def remove_checkpoint(
    checkpoint_prefix: str,
    checkpoint_format_version: int = SaverDef.V2,
    meta_graph_suffix: str = "meta",
) -> None:
    """Removes the files of a checkpoint and its meta graph."""
    _remove(meta_graph_filename(checkpoint_prefix, meta_graph_suffix))
    if checkpoint_format_version == SaverDef.V2:
        _remove(index_path(checkpoint_prefix))
        _remove(f"{checkpoint_prefix}.data-?????-of-?????")
    else:
        _remove(checkpoint_prefix)


def _remove(pattern: str) -> None:
    for path in glob.glob(pattern):
        os.remove(path)


def meta_graph_filename(checkpoint_filename: str, meta_graph_suffix: str = "meta") -> str:
    """The file of a checkpoint's meta graph; the shards of one checkpoint share it."""
    base, _, shard = checkpoint_filename.rpartition("-?????-of-")
    return f"{base if base and shard.isdigit() else checkpoint_filename}.{meta_graph_suffix}"


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Each new checkpoint of a directory as it appears, `min_interval_secs` apart at least.

    When none came for `timeout` seconds it ends, unless `timeout_fn` tells to go on by False.
    """
    last = None
    while True:
        found = _wait_for_new(checkpoint_dir, last, timeout)
        if found is not None:
            began = time.time()
            last = found
            yield found
            time.sleep(max(0.0, began + min_interval_secs - time.time()))
        elif timeout_fn is None:
            tf_logging.info("Timed-out waiting for a checkpoint.")
            return
        elif timeout_fn():
            return


def _wait_for_new(checkpoint_dir: str, last: str | None, timeout: float | None) -> str | None:
    """The path of a checkpoint other than the last, or None after `timeout` seconds."""
    tf_logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    end = math.inf if timeout is None else time.time() + timeout
    while True:
        path = latest_checkpoint(checkpoint_dir)
        if path not in (None, last):
            tf_logging.info("Found new checkpoint at %s", path)
            return path
        if time.time() + _SECONDS_BETWEEN_LOOKS > end:
            return None
        time.sleep(_SECONDS_BETWEEN_LOOKS)
