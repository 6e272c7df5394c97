"""Reading event files."""

from __future__ import annotations

import os
from collections.abc import Iterator

from minitf.proto.event import Event
from minitf_runtime.errors import DataLossError
from minitf_runtime.storage.protobuf import DecodeError
from minitf_runtime.storage.records import read_records


def summary_iterator(path: str) -> Iterator[Event]:
    """The events of a file. Raises NotFoundError, and DataLossError where the file is damaged."""
    path = os.fspath(path)
    for number, data in enumerate(read_records(path)):
        try:
            yield Event.FromString(data)
        except DecodeError as e:
            raise DataLossError(None, None, f"{path}: record {number} is no event: {e}") from None
