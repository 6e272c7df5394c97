"""tf.estimator.TrainSpec and EvalSpec: what train_and_evaluate does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from minitf.estimator.checks import check_positive
from minitf.estimator.exporter import Exporter
from minitf.train.session_run_hook import SessionRunHook


class _Train(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]


class TrainSpec(_Train):
    """What to train with, and up to which step. Raises ValueError, TypeError."""

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
    ) -> TrainSpec:
        _check_callable(input_fn)
        check_positive("max_steps", max_steps)
        return super().__new__(cls, input_fn, max_steps, _checked_hooks(hooks))


class _Eval(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Eval):
    """What to evaluate with, how often at most, and what to export then.

    Raises ValueError, TypeError.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_callable(input_fn)
        check_positive("steps", steps)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name}")
        for what, seconds in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if seconds < 0:
                raise ValueError(f"Must specify {what} >= 0, given: {seconds}")
        return super().__new__(
            cls,
            input_fn,
            steps,
            name,
            _checked_hooks(hooks),
            _checked_exporters(exporters),
            start_delay_secs,
            throttle_secs,
        )


def _check_callable(input_fn: Any) -> None:
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_hooks(hooks: Iterable[SessionRunHook] | None) -> tuple[SessionRunHook, ...]:
    found = tuple(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be `SessionRunHook` instances, given: {hook}")
    return found


def _checked_exporters(given: Any) -> tuple[Exporter, ...]:
    """One or several, each of a name of its own. Raises TypeError, ValueError."""
    if not given:
        return ()
    found = [given] if isinstance(given, Exporter) else given
    if not isinstance(found, Iterable) or not all(isinstance(e, Exporter) for e in found):
        raise TypeError(
            f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {given}."
        )
    names = [exporter.name for exporter in found]
    if not all(names):
        raise ValueError(
            f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}"
        )
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(name)}")
    if len(set(names)) < len(names):
        raise ValueError(
            "`exporters` must have unique names. Such a name cannot be `None`. All exporter names: "
            f"{names}"
        )
    return tuple(found)
