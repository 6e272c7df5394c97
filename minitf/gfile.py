"""tf.gfile: files of this machine under TensorFlow's names, with its errors."""

from __future__ import annotations

import glob
import os
import shutil
from collections.abc import Iterator
from typing import IO, Any

from minitf_runtime.errors import AlreadyExistsError, FailedPreconditionError
from minitf_runtime.storage.files import named

__all__ = [
    "Copy", "DeleteRecursively", "Exists", "FastGFile", "GFile", "Glob", "IsDirectory",
    "ListDirectory", "MakeDirs", "MkDir", "Open", "Remove", "Rename", "Stat", "Walk",
]  # fmt: skip


class GFile:
    """A file that is opened by its first use; `mode` as for open(). Raises OpError."""

    def __init__(self, name: str, mode: str = "r") -> None:
        self.name = os.fspath(name)
        self.mode = mode
        self._file: IO[Any] | None = None

    def _open(self) -> IO[Any]:
        if self._file is None:
            self._file = open(self.name, self.mode)  # noqa: SIM115  (closed by close)
        return self._file

    def read(self, n: int = -1) -> Any:
        with named(self.name):
            return self._open().read(n)

    def readline(self) -> Any:
        with named(self.name):
            return self._open().readline()

    def readlines(self) -> list[Any]:
        with named(self.name):
            return self._open().readlines()

    def write(self, file_content: Any) -> None:
        with named(self.name):
            self._open().write(file_content)

    def size(self) -> int:
        with named(self.name):
            return os.path.getsize(self.name)

    def tell(self) -> int:
        with named(self.name):
            return self._open().tell()

    def seek(self, offset: int, whence: int = 0) -> None:
        with named(self.name):
            self._open().seek(offset, whence)

    def flush(self) -> None:
        with named(self.name):
            self._open().flush()

    def close(self) -> None:
        if self._file is not None:
            with named(self.name):
                self._file.close()
            self._file = None

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.readlines())


FastGFile = Open = GFile


def Exists(filename: str) -> bool:
    return os.path.exists(filename)


def IsDirectory(dirname: str) -> bool:
    return os.path.isdir(dirname)


def ListDirectory(dirname: str) -> list[str]:
    with named(dirname):
        return os.listdir(dirname)


def Glob(filename: Any) -> list[str]:
    """The files that match a pattern, or one of several."""
    patterns = [filename] if isinstance(filename, (str, os.PathLike)) else filename
    return [path for p in patterns for path in sorted(glob.glob(os.fspath(p)))]


def MkDir(dirname: str) -> None:
    with named(dirname):
        os.mkdir(dirname)


def MakeDirs(dirname: str) -> None:
    """Makes a directory and those above it; one that is there is fine."""
    with named(dirname):
        os.makedirs(dirname, exist_ok=True)


def Remove(filename: str) -> None:
    with named(filename):
        os.remove(filename)


def DeleteRecursively(dirname: str) -> None:
    with named(dirname):
        shutil.rmtree(dirname)


def Rename(oldname: str, newname: str, overwrite: bool = False) -> None:
    """Raises AlreadyExistsError for a target that is there, unless `overwrite`."""
    _check_target(newname, overwrite)
    with named(oldname):
        os.replace(oldname, newname)


def Copy(oldpath: str, newpath: str, overwrite: bool = False) -> None:
    """Copies a file. Raises AlreadyExistsError for a target that is there, unless `overwrite`."""
    _check_target(newpath, overwrite)
    if os.path.isdir(newpath):
        raise FailedPreconditionError(None, None, f"{newpath} is a directory")
    with named(oldpath):
        shutil.copyfile(oldpath, newpath)


def _check_target(path: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(path):
        raise AlreadyExistsError(None, None, "file already exists")


def Stat(filename: str) -> os.stat_result:
    with named(filename):
        return os.stat(filename)


def Walk(top: str, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    return os.walk(top, topdown=in_order)
