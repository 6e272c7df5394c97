"""The layers around the session of a monitored session: hooks, the coordinator, recovery."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from minitf import tf_logging
from minitf.options import RunMetadata, RunOptions
from minitf.session import Session
from minitf.train.coordinator import Coordinator
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from minitf_runtime.errors import AbortedError, OpError, UnavailableError

# A task was lost or has restarted: a new session may work.
PREEMPTION_ERRORS = (AbortedError, UnavailableError)

RETRY_SECONDS = 0.5  # before a session is asked for again
_PREEMPTED = (
    "An error was raised%s. This may be due to a preemption of a connected worker or parameter "
    "server. %s This error may also occur due to a failure caused by high memory or network "
    "bandwidth usage in the parameter servers. If this error occurs repeatedly, try increasing "
    "the number of parameter servers assigned to the job. Error: %s"
)


class HookedSession:
    """Runs the hooks around each step."""

    def __init__(self, sess: Session, hooks: Sequence[SessionRunHook]) -> None:
        self._sess = sess
        self._hooks = hooks
        self._stopped = False

    def should_stop(self) -> bool:
        return self._stopped

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        if self._stopped:
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict), self._sess)
        asked = [hook.before_run(context) for hook in self._hooks]
        options = _with_options(options or RunOptions(), asked)
        run_metadata = run_metadata or RunMetadata()
        values = self._sess.run(
            [fetches, *(a.fetches for a in asked if _fetches(a))],
            feed_dict=_with_feeds(feed_dict, asked),
            options=options,
            run_metadata=run_metadata,
        )
        results = iter(values[1:])
        for hook, args in zip(self._hooks, asked):
            result = next(results) if _fetches(args) else None
            hook.after_run(context, SessionRunValues(result, options, run_metadata))
        self._stopped = self._stopped or context.stop_requested
        return values[0]

    def close(self) -> None:
        self._sess.close()


def _fetches(args: SessionRunArgs | None) -> bool:
    return args is not None and args.fetches is not None


def _with_feeds(feeds: Any, asked: Sequence[SessionRunArgs | None]) -> Any:
    """The feeds of the hooks and the user. Raises RuntimeError if two feed the same tensor."""
    added: dict[Any, Any] = {}
    for args in asked:
        if args is not None and args.feed_dict:
            _check_apart(added, args.feed_dict, "Same tensor is fed by two hooks.")
            added.update(args.feed_dict)
    if not added:
        return feeds
    _check_apart(feeds or {}, added, "Same tensor is fed by a SessionRunHook and user.")
    return {**added, **(feeds or {})}


def _check_apart(a: dict[Any, Any], b: dict[Any, Any], message: str) -> None:
    both = [key for key in a if key in b]
    if both:
        raise RuntimeError(f"{message} Conflict(s): {both}")


def _with_options(options: Any, asked: Sequence[SessionRunArgs | None]) -> Any:
    """The user's options, raised to what the hooks ask for."""
    for args in asked:
        wanted = None if args is None else args.options
        if wanted is None:
            continue
        for field in (
            "trace_level",
            "timeout_in_ms",
            "inter_op_thread_pool",
            "output_partition_graphs",
            "report_tensor_allocations_upon_oom",
        ):
            setattr(options, field, max(getattr(options, field), getattr(wanted, field)))
    return options


class CoordinatedSession:
    """Prefers a lost task's error of another thread, and stops the threads when it is closed."""

    def __init__(
        self, sess: HookedSession, coord: Coordinator, stop_grace_period_secs: float
    ) -> None:
        self._sess = sess
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def should_stop(self) -> bool:
        """Raises the error that a thread has reported."""
        self._coord.raise_requested_exception()
        return self._coord.should_stop() or self._sess.should_stop()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except PREEMPTION_ERRORS:
            raise
        except Exception as e:
            reported = _reported(self._coord)
            if isinstance(reported, PREEMPTION_ERRORS):
                raise reported from e
            raise

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            try:
                self._sess.close()
            except OpError as e:
                tf_logging.warning("An error occurred when closing the session: %s", e)


def _reported(coord: Coordinator) -> BaseException | None:
    try:
        coord.raise_requested_exception()
    except Exception as e:
        return e
    return None


class RecoverableSession:
    """Makes a new session, and repeats the step, when a task was lost."""

    def __init__(self, create: Callable[[], CoordinatedSession]) -> None:
        self._create = create
        self._sess: CoordinatedSession | None = self._new()

    def _new(self) -> CoordinatedSession:
        while True:
            try:
                return self._create()
            except PREEMPTION_ERRORS as e:
                what = " while a session was being created"
                tf_logging.info(_PREEMPTED, what, "A new session will be created.", e)
                time.sleep(RETRY_SECONDS)

    def should_stop(self) -> bool:
        """Whether to stop; an error that a thread has reported is left to close()."""
        if self._sess is None:
            return True
        try:
            return self._sess.should_stop()
        except PREEMPTION_ERRORS as e:
            self._drop(" while considering whether the session is complete", e)
            self._sess = self._new()
            return False
        except Exception:
            return True

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self.recovering(lambda sess: sess.run(*args, **kwargs))

    def recovering(self, use: Callable[[CoordinatedSession], Any]) -> Any:
        """use(session), with a new session each time that a task is lost."""
        while True:
            try:
                self._sess = self._sess or self._new()
                return use(self._sess)
            except PREEMPTION_ERRORS as e:
                self._drop("", e)

    def _drop(self, when: str, error: Exception) -> None:
        then = "The current session will be closed and a new session will be created."
        tf_logging.info(_PREEMPTED, when, then, error)
        self.close()

    def close(self) -> None:
        sess, self._sess = self._sess, None
        if sess is None:
            return
        try:
            sess.close()
        except PREEMPTION_ERRORS as e:
            tf_logging.warning(
                "An error occurred when attempting to close the session. This may be due to a "
                "preemption in a connected worker or parameter server. Error: %s",
                e,
            )
