"""Graphs and meta graphs as files, binary or text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minitf.graph import Graph
from minitf.proto.meta_graph import MetaGraphDef
from minitf.proto.text import ParseError, merge_text
from minitf_runtime.errors import NotFoundError, OpError
from minitf_runtime.storage.files import read_whole, write_whole
from minitf_runtime.storage.protobuf import DecodeError

__all__ = ["write_graph"]


def write_graph(graph_or_graph_def: Any, logdir: str, name: str, as_text: bool = True) -> str:
    """Writes a Graph or GraphDef below a directory, whole or not at all; gives the path."""
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    path = os.path.join(os.fspath(logdir), name)
    write_message(message, path, as_text)
    return path


def write_message(message: Any, path: str, as_text: bool) -> None:
    """Raises OpError naming the file; the old one stays then."""
    write_whole(path, str(message).encode() if as_text else message.SerializeToString())


def read_meta_graph_file(filename: str) -> MetaGraphDef:
    """A MetaGraphDef from a binary file, else from a text file. Raises OSError."""
    if not os.path.exists(filename):
        raise OSError(f"File {filename} does not exist.")
    try:
        data = read_whole(filename)
    except OpError as e:
        raise OSError(f"Cannot read file {filename}: {e}.") from e
    try:
        made = _parsed(data)
    except (DecodeError, ParseError) as e:
        raise OSError(f"Cannot parse file {filename}: {e}.") from None
    if not made.HasField("graph_def"):  # bytes of another kind can look like unknown fields
        raise OSError(f"Cannot parse file {filename}: it holds no graph.")
    return made


@contextmanager
def graph_of_file(filename: str) -> Iterator[None]:
    """Names the file in the errors of a graph that does not hold together."""
    try:
        yield
    except NotFoundError as e:
        raise NotFoundError(None, None, f"{filename}: {e.message}") from e
    except ValueError as e:
        raise ValueError(f"{filename}: {e}") from e


def _parsed(data: bytes) -> MetaGraphDef:
    try:
        return MetaGraphDef.FromString(data)  # type: ignore[no-any-return]
    except DecodeError as binary_error:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise binary_error from None
    return merge_text(text, MetaGraphDef())  # type: ignore[no-any-return]
