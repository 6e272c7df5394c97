"""tf.train.MonitoredTrainingSession and its kin: sessions with hooks, threads and recovery."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from minitf.default import GraphKeys, get_default_graph
from minitf.graph import Graph
from minitf.session import Session
from minitf.train.coordinator import Coordinator
from minitf.train.queue_runner import start_queue_runners
from minitf.train.saving_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from minitf.train.scaffold import Scaffold
from minitf.train.session_creator import (
    ChiefSessionCreator,
    SessionCreator,
    WorkerSessionCreator,
)
from minitf.train.session_run_hook import SessionRunHook
from minitf.train.wrapped_session import CoordinatedSession, HookedSession, RecoverableSession
from minitf_runtime.errors import OutOfRangeError


class StepContext:
    """What run_step_fn gives to its function."""

    def __init__(self, session: Session, run_with_hooks: Callable[..., Any]) -> None:
        self._session = session
        self._run_with_hooks = run_with_hooks

    @property
    def session(self) -> Session:
        """The session itself: what it runs is not seen by the hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        return self._run_with_hooks(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the `with` block of the session, by raising StopIteration."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _MonitoredSession:
    """Calls the hooks' begin(), then makes the session; the graph is final while it is open."""

    StepContext = StepContext

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph = get_default_graph()
        self._graph_was_finalized = self._graph.finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._creator = session_creator or ChiefSessionCreator()
        self._stop_grace_period_secs = stop_grace_period_secs
        self._raw: Session | None = None
        self._sess: RecoverableSession | CoordinatedSession | None
        self._sess = RecoverableSession(self._create) if should_recover else self._create()

    def _create(self) -> CoordinatedSession:
        coord = Coordinator(clean_stop_exception_types=[])
        with self._graph.as_default():
            raw = self._raw = self._creator.create_session()
            if self._graph.get_collection(GraphKeys.QUEUE_RUNNERS):
                start_queue_runners(sess=raw, coord=coord)
            for hook in self._hooks:
                hook.after_create_session(raw, coord)
        return CoordinatedSession(
            HookedSession(raw, self._hooks), coord, self._stop_grace_period_secs
        )

    @property
    def graph(self) -> Graph | None:
        """The graph, or None once the session is closed."""
        return None if self._raw is None else self._raw.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Session.run with the hooks around it. Raises RuntimeError after a request to stop."""
        return self._open().run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """step_fn(step_context), for steps of several runs. Raises ValueError for other
        parameters."""
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {names} instead."
            )
        sess = self._open()

        def use(sess: CoordinatedSession) -> Any:
            assert self._raw is not None
            return step_fn(StepContext(self._raw, sess.run))

        return sess.recovering(use) if isinstance(sess, RecoverableSession) else use(sess)

    def should_stop(self) -> bool:
        return self._sess is None or self._sess.should_stop()

    def _open(self) -> RecoverableSession | CoordinatedSession:
        if self._sess is None:
            raise RuntimeError("Session is already closed.")
        return self._sess

    def close(self) -> None:
        """Calls the hooks' end(), stops the threads, closes the session."""
        self._close(None)

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if exception_type in (OutOfRangeError, StopIteration):
            exception_type = None  # the end of the input
        self._close(exception_type)
        return exception_type is None

    def _close(self, exception_type: type[BaseException] | None) -> None:
        try:
            if exception_type is None:
                for hook in self._hooks:
                    hook.end(self._raw)
        finally:
            try:
                self._open().close()
            finally:
                self._sess = self._raw = None
                if not self._graph_was_finalized:
                    self._graph._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._raw is None


class MonitoredSession(_MonitoredSession):
    """A session with hooks that recovers from lost tasks (TF: train.MonitoredSession)."""

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


class SingularMonitoredSession(_MonitoredSession):
    """A session with hooks that does not recover, and shows its session."""

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self) -> Session | None:
        return self._raw


USE_DEFAULT: Any = object()


def MonitoredTrainingSession(  # noqa: N802
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: float | None = USE_DEFAULT,
    save_summaries_steps: int | None = USE_DEFAULT,
    save_summaries_secs: float | None = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: int | None = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """A MonitoredSession that, on the chief, saves checkpoints and summaries.

    Every 600 s and every 100 steps, unless told otherwise; nothing without a directory.
    """
    scaffold = scaffold or Scaffold()
    if not is_chief:
        waiting = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(waiting, hooks, stop_grace_period_secs)
    own: list[SessionRunHook] = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir:
        if _positive(log_step_count_steps):
            own.append(StepCounterHook(log_step_count_steps, output_dir=summary_dir))
        steps, secs = _intervals(save_summaries_steps, save_summaries_secs, 100, None)
        if _positive(steps) or _positive(secs):
            own.append(SummarySaverHook(steps, secs, summary_dir, scaffold=scaffold))
    if checkpoint_dir:
        steps, secs = _intervals(save_checkpoint_steps, save_checkpoint_secs, None, 600)
        if _positive(steps) or _positive(secs):
            own.append(CheckpointSaverHook(checkpoint_dir, secs, steps, scaffold=scaffold))
    chief = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*own, *(hooks or ())], stop_grace_period_secs)


def _positive(value: Any) -> bool:
    return bool(value and value > 0)


def _intervals(steps: Any, secs: Any, default_steps: Any, default_secs: Any) -> tuple[Any, Any]:
    """Both as given; the defaults hold only where neither is."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)
