"""tf.errors: the engine's error classes under their public names, and how a step's error reads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitf_runtime.devices.name import task_of
from minitf_runtime.errors import (
    BY_CODE,
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
    "raise_exception_on_not_ok_status",
]

OK = 0
for _code, _cls in BY_CODE.items():
    _words = "".join("_" + c if c.isupper() else c.upper() for c in _cls.__name__[: -len("Error")])
    globals()[_words.lstrip("_")] = _code  # CANCELLED = 1, INVALID_ARGUMENT = 3, ...


def exception_type_from_error_code(error_code: int) -> type[OpError]:
    return BY_CODE[error_code]


def error_code_from_exception_type(cls: type[OpError]) -> int:
    return cls.code


@contextmanager
def raise_exception_on_not_ok_status() -> Iterator[None]:
    """Kept for old programs: errors are raised where they happen."""
    yield


def of_step(error: OpError, graph: Any, local: bool) -> OpError:
    """A step's error as TF words it: task, text, node with the user's line; `.op` is the client's
    op."""
    op = graph._by_name.get(error.node) if error.node else None
    text = str(error.message)
    if error.node and error.device:  # an error of a run; one of the placer tells all itself
        where = f" (defined at {error.source})" if error.source else ""
        shown = f"[[node {error.node}{where} ]]" if op else f"[[{{{{node {error.node}}}}}]]"
        text = f"{text}\n\t {shown}"
        if not local:
            text = f"From {task_of(error.device)}:\n{text}"
        made_at = f", made at {error.source}" if error.source else ""
        text += f"\n  op '{error.node}' ran on {error.device}{made_at}"
    made = type(error)(op.node_def if op else None, op, text)
    made.node, made.device, made.source = error.node, error.device, error.source
    return made
