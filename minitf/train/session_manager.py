"""tf.train.SessionManager: makes sessions whose model is restored, initialized and ready."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf import tf_logging
from minitf.default import get_default_graph
from minitf.graph import Graph
from minitf.session import Session
from minitf.train.checkpoint_management import get_checkpoint_state
from minitf_runtime.errors import DeadlineExceededError, FailedPreconditionError, OpError


class SessionManager:
    """Prepares, recovers or waits for a session (TF: train.SessionManager).

    `ready_for_local_init_op` and `ready_op` give the names of what is not initialized yet; between
    the two, `local_init_op` is run. Raises ValueError for the first without the last.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = graph or get_default_graph()
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    # ---- on the chief

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Any = None,
    ) -> Session:
        """A session that is restored from a checkpoint or, if there is none, initialized.

        Raises RuntimeError when there is no way to initialize, or it does not make the model ready.
        """
        source = _source(checkpoint_dir, checkpoint_filename_with_path)
        sess = Session(master, graph=self._graph, config=config)
        with _closed_on_error(sess):
            if not self._restore(sess, saver, *source, wait_for_checkpoint, max_wait_secs):
                self._initialize(sess, init_op, init_feed_dict, init_fn)
            init = f"Init op: {_name(init_op)}, init fn: {init_fn}"
            missing = self._local_init(sess)
            if missing:
                raise RuntimeError(
                    "Init operations did not make model ready for local_init.  "
                    f"{init}, error: {missing}"
                )
            missing = self._model_ready(sess)
            if missing:
                raise RuntimeError(
                    f"Init operations did not make model ready.  {init}, "
                    f"local_init_op: {_name(self._local_init_op)}, error: {missing}"
                )
        return sess

    def _initialize(self, sess: Session, init_op: Any, feeds: Any, init_fn: Any) -> None:
        if init_op is None and not init_fn and self._local_init_op is None:
            raise RuntimeError(
                "Model is not initialized and no init_op or init_fn or local_init_op was given"
            )
        if init_op is not None:
            sess.run(init_op, feed_dict=feeds)
        if init_fn:
            init_fn(sess)

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """A session, and whether it could be restored from a checkpoint and is ready."""
        source = _source(checkpoint_dir, checkpoint_filename_with_path)
        sess = Session(master, graph=self._graph, config=config)
        with _closed_on_error(sess):
            restored = self._restore(sess, saver, *source, wait_for_checkpoint, max_wait_secs)
            missing = self._local_init(sess)
            if not restored:
                return sess, False
            unready = "" if missing else self._model_ready(sess)
        shown = source[0] or source[1]
        if missing:
            text = "Restoring model from %s did not make model ready for local init: %s"
            tf_logging.info(text, shown, missing)
        elif unready:
            tf_logging.info("Restoring model from %s did not make model ready: %s", shown, unready)
        else:
            tf_logging.info("Restored model from %s", shown)
        return sess, not missing and not unready

    def _restore(
        self,
        sess: Session,
        saver: Any,
        directory: str | None,
        filename: str | None,
        wait: bool,
        max_wait_secs: float,
    ) -> bool:
        """Restores the file, or the last checkpoint of the directory; whether there was one."""
        if not saver or not (directory or filename):
            return False
        if filename:
            saver.restore(sess, filename)
            return True
        state = self._checkpoint(directory, max_wait_secs if wait else 0)
        if state is None:
            return False
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True

    def _checkpoint(self, directory: str | None, max_wait_secs: float) -> Any:
        """What the directory says of its checkpoints, once it does so within the time; or None."""
        waited = 0.0
        while True:
            state = get_checkpoint_state(directory)
            if state and state.model_checkpoint_path:
                return state
            if waited >= max_wait_secs:
                return None
            tf_logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs

    # ---- on the other workers

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float | None = float("inf")
    ) -> Session:
        """A session in which the model is ready because another worker has initialized it.

        Looks again every `recovery_wait_secs`. Raises DeadlineExceededError.
        """
        limit = float("inf") if max_wait_secs is None else max_wait_secs
        end = time.monotonic() + limit
        while True:
            sess = Session(master, graph=self._graph, config=config)
            with _closed_on_error(sess):
                missing = self._local_init(sess)
                not_ready = "" if missing else self._model_ready(sess)
            if not missing and not not_ready:
                return sess
            _close_quietly(sess)
            if end - time.monotonic() < self._recovery_wait_secs:
                raise DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit:.0f} secs."
                )
            tf_logging.info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                missing or None,
                not_ready or None,
            )
            time.sleep(self._recovery_wait_secs)

    # ---- readiness

    def _local_init(self, sess: Session) -> str:
        """Runs the local initializer if the model is ready for it; else what is missing."""
        if self._local_init_op is None:
            return ""
        missing = ready(self._ready_for_local_init_op, sess, "Model not ready for local init")
        if not missing:
            tf_logging.info("Running local_init_op.")
            sess.run(self._local_init_op, options=self._local_init_run_options)
            tf_logging.info("Done running local_init_op.")
        return missing

    def _model_ready(self, sess: Session) -> str:
        return ready(self._ready_op, sess, "Model not ready")


def ready(op: Any, sess: Any, message: str) -> str:
    """What is missing according to `op`, which gives names, or fails; '' if nothing is."""
    if op is None:
        return ""
    try:
        names = sess.run(op)
    except FailedPreconditionError as e:
        if "uninitialized" not in str(e):
            tf_logging.warning("%s : error [%s]", message, e)
            raise
        return str(e)
    if names is None or names.dtype == np.int32 or not names.size:
        return ""
    return "Variables not initialized: " + ", ".join(name.decode() for name in names)


def _source(directory: str | None, filename: str | None) -> tuple[str | None, str | None]:
    if directory and filename:
        raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
    return directory, filename


def _name(op: Any) -> str:
    if op is None:
        return "None"
    return getattr(op, "name", None) or f"<no name for {type(op)}>"


@contextmanager
def _closed_on_error(sess: Session) -> Iterator[None]:
    """Leaves no session behind on the cluster when making it usable fails."""
    try:
        yield
    except BaseException:
        _close_quietly(sess)
        raise


def _close_quietly(sess: Session) -> None:
    try:
        sess.close()
    except OpError as e:
        tf_logging.vlog(1, "Ignored exception: %s", e)
