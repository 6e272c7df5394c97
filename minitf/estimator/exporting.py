"""Writing a trained model as a SavedModel in a directory named after the time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from minitf import gfile, tf_logging
from minitf.default import GraphKeys, get_collection
from minitf.estimator.export_outputs import signatures
from minitf.estimator.model import Model
from minitf.estimator.spec import EstimatorSpec, ModeKeys
from minitf.graph import Graph
from minitf.saved_model.builder import SavedModelBuilder
from minitf.saved_model.tag_constants import SERVING
from minitf.session import Session
from minitf.train.saver import Saver
from minitf.train.scaffold import Scaffold
from minitf_runtime.errors import NotFoundError

_ATTEMPTS = 10  # to find a second in which nobody else exports


def new_directory(base: Any) -> str:
    """A directory named after this second. Raises RuntimeError if there are ten in a row."""
    for attempt in range(1, _ATTEMPTS + 1):
        path = os.path.join(os.fsdecode(base), str(int(time.time())))
        if not os.path.exists(path):
            return path
        time.sleep(1)
        tf_logging.warning(
            "Directory %s already exists; retrying (attempt %d/%d)", path, attempt, _ATTEMPTS
        )
    raise RuntimeError(
        f"Failed to obtain a unique export directory name after {_ATTEMPTS} attempts."
    )


def export(
    model: Model,
    base: Any,
    receiver_fn: Callable[[], Any],
    checkpoint_path: str,
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> str:
    """Writes the model with the variables of a checkpoint; gives the directory, made at last."""
    directory = new_directory(base)
    with Graph().as_default():
        model.begin()
        receiver = receiver_fn()
        spec = model.call(receiver.features, None, ModeKeys.PREDICT)
        config = model.config.session_config
        _write(
            directory,
            spec,
            receiver,
            checkpoint_path,
            config,
            assets_extra,
            as_text,
            strip_default_attrs,
        )
    return directory


def _write(
    directory: str,
    spec: EstimatorSpec,
    receiver: Any,
    checkpoint_path: str,
    config: Any,
    assets_extra: Mapping[str, str] | None,
    as_text: bool,
    strip_default_attrs: bool,
) -> None:
    made = signatures(
        receiver.receiver_tensors,
        spec.export_outputs,
        getattr(receiver, "receiver_tensors_alternatives", None),
    )
    parent, name = os.path.split(directory)
    temporary = os.path.join(parent, f"temp-{name}")
    builder = SavedModelBuilder(temporary)
    with Session(config=config) as session:
        local_init_op = spec.scaffold.local_init_op
        if local_init_op is None:
            local_init_op = Scaffold.default_local_init_op()
        saver = spec.scaffold.saver or Saver(sharded=True)
        _restore(session, saver, checkpoint_path, spec.mode)
        builder.add_meta_graph_and_variables(
            session,
            [SERVING],
            made,
            get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=local_init_op,
            strip_default_attrs=strip_default_attrs,
            saver=saver,
        )
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(temporary, "assets.extra", name)
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)
    gfile.Rename(temporary, directory)


def _restore(session: Session, saver: Any, checkpoint_path: str, mode: str) -> None:
    try:
        saver.restore(session, checkpoint_path)
    except NotFoundError as e:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your "
            "model_fn does not expect variables that were not saved in the checkpoint.\n\n"
            f"Encountered error with mode `{mode}` while restoring checkpoint from: "
            f"`{checkpoint_path}`. Full Traceback:\n\n{e}"
        ) from e
