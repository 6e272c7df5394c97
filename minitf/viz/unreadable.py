"""What has no graph to look at: the error that says so, and the end of scripts that hang."""

from __future__ import annotations

import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MOST_TEXT = 300  # characters of an error that is not ours
REPEAT = 1.0  # seconds until a script that caught the end of its time is ended again


class Unreadable(ValueError):
    """There is no graph to look at; the text, one line, says why."""


class TimeUp(BaseException):
    """Ends the script: its time is over."""


def failed(error: Exception, script: str) -> Unreadable:
    """A script's error, with the last line of the script that led to it."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == script]
    if isinstance(error, SyntaxError):
        lines, error = [error.lineno], SyntaxError(error.msg)
    at = f" at {script}:{lines[-1]}" if lines else ""
    text = " ".join(str(error).split())[:MOST_TEXT]
    return Unreadable(f"{script} failed{at}: {type(error).__name__}: {text}")


@contextmanager
def within(limit: float | None, script: str) -> Iterator[None]:
    """Ends the block with TimeUp after so many seconds; only in the main thread: Python can
    interrupt no other."""
    if limit is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        while frame is not None and frame.f_code.co_filename != script:
            frame = frame.f_back
        at = f"; it was at {script}:{frame.f_lineno}" if frame else ""
        raise TimeUp(
            f"{script} ran for {limit:g} s without a first Session.run{at}"
            " (--limit S gives it more time)"
        )

    handler = signal.signal(signal.SIGALRM, stop)
    outer = signal.setitimer(signal.ITIMER_REAL, limit, REPEAT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *outer)
        signal.signal(signal.SIGALRM, handler)
