"""tf.logging: messages of minitf and of user scripts, on Python's logging (logger `minitf`)."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from typing import Any, TextIO

__all__ = [
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "TaskLevelStatusMessage",
    "WARN",
    "debug",
    "error",
    "fatal",
    "flush",
    "get_verbosity",
    "info",
    "log",
    "log_every_n",
    "log_first_n",
    "log_if",
    "set_verbosity",
    "vlog",
    "warn",
    "warning",
]

_logger = logging.getLogger("minitf")
_calls: Counter[tuple[str, int]] = Counter()


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to the present sys.stderr, unless the program has set up logging itself."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.setFormatter(logging.Formatter(logging.BASIC_FORMAT))

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr

    def filter(self, record: logging.LogRecord) -> bool:
        return not logging.getLogger().handlers


_logger.addHandler(_Stderr())


def get_logger() -> logging.Logger:
    """The logger that all functions here write to."""
    return _logger


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    _logger.debug(msg, *args, stacklevel=2, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    _logger.info(msg, *args, stacklevel=2, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    _logger.warning(msg, *args, stacklevel=2, **kwargs)


warn = warning


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    _logger.error(msg, *args, stacklevel=2, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at the highest level; does not end the program (as TF 1.15)."""
    _logger.critical(msg, *args, stacklevel=2, **kwargs)


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    _logger.log(level, msg, *args, stacklevel=2, **kwargs)


vlog = log


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    if condition:
        _logger.log(level, msg, *args, stacklevel=2)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first call of this line, then one in `n`."""
    if _count_call() % n == 0:
        _logger.log(level, msg, *args, stacklevel=2)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first `n` calls of this line."""
    if _count_call() < n:
        _logger.log(level, msg, *args, stacklevel=2)


def _count_call() -> int:
    """How often the line that called our caller did so before."""
    frame = sys._getframe(2)
    line = frame.f_code.co_filename, frame.f_lineno
    _calls[line] += 1
    return _calls[line] - 1


def TaskLevelStatusMessage(msg: Any) -> None:
    _logger.error(msg, stacklevel=2)


def flush() -> None:
    for handler in _logger.handlers:
        handler.flush()


def set_verbosity(v: Any) -> None:
    """The least level that is shown: a number or its name."""
    _logger.setLevel(v)


def get_verbosity() -> int:
    return _logger.getEffectiveLevel()
