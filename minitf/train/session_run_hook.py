"""SessionRunHook and what it is told: code that runs around each step of a monitored session."""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """What a hook adds to a step: fetches in any structure, feeds and options."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a hook gets of a step: the values of its own fetches."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """What a hook knows about a step: what the user asked for, and the session."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        return self._original_args

    @property
    def session(self) -> Any:
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes the session's should_stop() true from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Extends the runs of a monitored session (TF: train.SessionRunHook); does nothing itself."""

    def begin(self) -> None:
        """Called once, before the session is made: the last time to change the graph."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session was made, again after each recovery; the graph is final."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; what it returns is added to the run."""

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail."""

    def end(self, session: Any) -> None:
        """Called at the end, unless a run failed."""
