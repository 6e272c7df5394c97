"""tf.ReaderBase and its kinds: objects that stand for a reader of files on a device."""

from __future__ import annotations

from typing import Any

from minitf.operation import Operation, Tensor
from minitf.ops.apply import apply_op
from minitf.record_files import TFRecordOptions
from minitf_runtime.types import resource

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "LMDBReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]


class ReaderBase:
    """A reader that takes names of work, mostly files, from a queue; the methods make ops."""

    def __init__(self, reader_ref: Tensor, supports_serialize: bool = False) -> None:
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    @property
    def reader_ref(self) -> Tensor:
        return self._reader_ref

    @property
    def supports_serialize(self) -> bool:
        return self._supports_serialize

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of the next record; takes more work from the queue when it needs some."""
        return self._make("ReaderRead", _handle(queue), name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of the next records, of one unit of work."""
        return self._make("ReaderReadUpTo", _handle(queue), num_records, name=name)

    def num_records_produced(self, name: str | None = None) -> Tensor:
        return self._make("ReaderNumRecordsProduced", name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        return self._make("ReaderNumWorkUnitsCompleted", name=name)

    def serialize_state(self, name: str | None = None) -> Tensor:
        """A string that restore_state takes; UnimplementedError for readers of several records."""
        return self._make("ReaderSerializeState", name=name)

    def restore_state(self, state: Any, name: str | None = None) -> Operation:
        return self._make("ReaderRestoreState", state, name=name)

    def reset(self, name: str | None = None) -> Operation:
        return self._make("ReaderReset", name=name)

    def _make(self, kind: str, *inputs: Any, name: str | None) -> Any:
        ref = self._reader_ref
        version = "V2" if ref.dtype is resource else ""
        return apply_op(f"{kind}{version}", ref, *inputs, name=name)


def _handle(queue: Any) -> Tensor:
    return queue if isinstance(queue, Tensor) else queue.queue_ref


class WholeFileReader(ReaderBase):
    """Gives the name of a file and its contents."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply_op("WholeFileReaderV2", name=name), supports_serialize=True)


class TextLineReader(ReaderBase):
    """Gives the lines of files, without their ends; keys are FILE:NUMBER."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(
            apply_op("TextLineReaderV2", skip_header_lines=skip_header_lines, name=name)
        )


class FixedLengthRecordReader(ReaderBase):
    """Gives records of one length, between a header and a footer; keys are FILE:NUMBER."""

    def __init__(
        self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None,
    ) -> None:  # fmt: skip
        ref = apply_op(
            "FixedLengthRecordReaderV2", record_bytes=record_bytes, header_bytes=header_bytes,
            footer_bytes=footer_bytes, hop_bytes=hop_bytes, encoding=encoding, name=name,
        )  # fmt: skip
        super().__init__(ref)


class TFRecordReader(ReaderBase):
    """Gives the records of TFRecord files; keys are FILE:PLACE."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        compression = TFRecordOptions.get_compression_type_string(options)
        super().__init__(apply_op("TFRecordReaderV2", compression_type=compression, name=name))


class LMDBReader(ReaderBase):
    """Makes the op, which no step can run here: UnimplementedError."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(apply_op("LMDBReader", name=name))


class IdentityReader(ReaderBase):
    """Gives the work itself as key and as value."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(apply_op("IdentityReaderV2", name=name), supports_serialize=True)
