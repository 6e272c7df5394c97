"""Files that are written whole or not at all, and system errors as TensorFlow's."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from minitf_runtime.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnknownError,
)

_ERRORS: dict[int | None, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.EEXIST: AlreadyExistsError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.EISDIR: FailedPreconditionError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.EFBIG: ResourceExhaustedError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EDQUOT: ResourceExhaustedError,
}


@contextmanager
def named(path: str) -> Iterator[None]:
    """Turns an OSError of the block into the OpError of its kind, naming the file."""
    try:
        yield
    except OSError as e:
        kind = _ERRORS.get(e.errno, UnknownError)
        raise kind(None, None, f"{path}; {e.strerror or e}") from e


class Pending:
    """New contents of files: they take the place of the old ones at `commit`, in the order in
    which they were opened. Left without it, nothing has changed."""

    def __init__(self) -> None:
        self._files: list[tuple[str, str]] = []
        self._made: set[str] = set()  # directories

    def __enter__(self) -> Pending:
        return self

    def __exit__(self, *_: object) -> None:
        for temporary, _path in self._files:
            if os.path.exists(temporary):
                os.remove(temporary)
        for directory in self._made:
            with suppress(OSError):  # it is in use
                os.rmdir(directory)

    @contextmanager
    def open(self, path: str) -> Iterator[IO[bytes]]:
        """A file to write, on the disk when the block ends. Raises OpError."""
        temporary = f"{path}.tempstate{uuid.uuid4().hex[:16]}"
        with named(path):
            self._make_directory(os.path.dirname(path) or ".")
            self._files.append((temporary, path))
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())

    def _make_directory(self, path: str) -> None:
        if os.path.isdir(path):
            return
        try:
            os.makedirs(path, exist_ok=True)
        except FileExistsError:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        self._made.add(path)

    def commit(self) -> None:
        for temporary, path in self._files:
            with named(path):
                os.replace(temporary, path)
        self._made.clear()


def write_whole(path: str, data: bytes) -> None:
    """Replaces a file, or leaves the old one. Raises OpError."""
    with Pending() as files:
        with files.open(path) as file:
            file.write(data)
        files.commit()


def read_whole(path: str) -> bytes:
    """Raises OpError."""
    with named(path), open(path, "rb") as file:
        return file.read()
