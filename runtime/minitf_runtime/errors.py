"""The tree of errors, with TensorFlow's class names and codes. Nothing here knows graphs or
sockets.

OpError
  CancelledError UnknownError InvalidArgumentError DeadlineExceededError NotFoundError
  AlreadyExistsError PermissionDeniedError UnauthenticatedError ResourceExhaustedError
  FailedPreconditionError AbortedError OutOfRangeError UnimplementedError InternalError
  UnavailableError DataLossError
"""

from __future__ import annotations

from typing import Any


class OpError(Exception):
    """An error of an op or of a step (TF: errors.OpError)."""

    code = 2

    def __init__(self, node_def: Any, op: Any, message: str, error_code: int | None = None) -> None:
        super().__init__(message)
        self.node_def = node_def
        self.op = op
        self.message = message
        self.error_code = self.code if error_code is None else error_code
        self.node: str | None = None  # name of the node that failed, once an executor knows it
        self.device: str | None = None  # where it ran
        self.source: str | None = None  # the user's line that made the node
        self.placement: Any = None  # node -> what the placer knew of it, if it was the placer

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.node_def, self.op, self.message))


class CancelledError(OpError):
    code = 1


class UnknownError(OpError):
    code = 2


class InvalidArgumentError(OpError):
    code = 3


class DeadlineExceededError(OpError):
    code = 4


class NotFoundError(OpError):
    code = 5


class AlreadyExistsError(OpError):
    code = 6


class PermissionDeniedError(OpError):
    code = 7


class ResourceExhaustedError(OpError):
    code = 8


class FailedPreconditionError(OpError):
    code = 9


class AbortedError(OpError):
    code = 10


class OutOfRangeError(OpError):
    code = 11


class UnimplementedError(OpError):
    code = 12


class InternalError(OpError):
    code = 13


class UnavailableError(OpError):
    code = 14


class DataLossError(OpError):
    code = 15


class UnauthenticatedError(OpError):
    code = 16


BY_CODE: dict[int, type[OpError]] = {
    cls.code: cls
    for cls in (
        CancelledError,
        UnknownError,
        InvalidArgumentError,
        DeadlineExceededError,
        NotFoundError,
        AlreadyExistsError,
        PermissionDeniedError,
        ResourceExhaustedError,
        FailedPreconditionError,
        AbortedError,
        OutOfRangeError,
        UnimplementedError,
        InternalError,
        UnavailableError,
        DataLossError,
        UnauthenticatedError,
    )
}


def invalid(message: str) -> InvalidArgumentError:
    """An InvalidArgumentError of which the node is filled in by whoever runs the kernel."""
    return InvalidArgumentError(None, None, message)
