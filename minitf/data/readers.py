"""Datasets of what files hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitf.convert import to_tensor
from minitf.data import functional
from minitf.data.dataset import AUTOTUNE, Dataset, DatasetV1Adapter
from minitf.operation import Tensor
from minitf.ops.apply import apply_op
from minitf.tensor_spec import TensorSpec
from minitf_runtime.types import int64, string

BUFFER_BYTES = 256 * 1024
_SPEC = TensorSpec([], string)


class _Reading(DatasetV1Adapter):
    """Strings from files whose names are tensors or a dataset, one file after the other."""

    def __init__(
        self,
        filenames: Any,
        read: Callable[[Tensor], Dataset],
        num_parallel_reads: int | None,
    ) -> None:
        names = _names(filenames)

        def read_one_file(filename: Any) -> Dataset:
            return read(to_tensor(filename, string, name="filename"))

        if num_parallel_reads is None:
            made = names.flat_map(read_one_file)
        elif num_parallel_reads == AUTOTUNE:
            made = names.interleave(read_one_file, num_parallel_calls=num_parallel_reads)
        else:
            made = functional.parallel_interleave(
                names, read_one_file, num_parallel_reads, 1, False, None, None
            )
        super().__init__(made._variant_tensor, _SPEC, [names])


def _names(filenames: Any) -> Dataset:
    """Raises TypeError for a dataset of anything but scalar strings."""
    if not isinstance(filenames, Dataset):
        flat = apply_op("Reshape", to_tensor(filenames, string), [-1], name="flat_filenames")
        return Dataset.from_tensor_slices(flat)
    if filenames.output_types != string:
        raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
    if not filenames.output_shapes.is_compatible_with([]):
        raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
    return filenames


def _number(value: Any, name: str, default: int) -> Tensor:
    return to_tensor(default if value is None else value, int64, name=name)


def _compression(value: Any) -> Tensor:
    return to_tensor("" if value is None else value, string, name="compression_type")


def _strings(op: str, compression_type: Any, buffer_size: Any) -> Callable[[Tensor], Dataset]:
    def read(filename: Tensor) -> Dataset:
        compression = _compression(compression_type)
        size = _number(buffer_size, "buffer_size", BUFFER_BYTES)
        return DatasetV1Adapter(apply_op(op, filename, compression, size), _SPEC)

    return read


class TextLineDataset(_Reading):
    """The lines of files, without their ends."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        read = _strings("TextLineDataset", compression_type, buffer_size)
        super().__init__(filenames, read, num_parallel_reads)


class TFRecordDataset(_Reading):
    """The records of TFRecord files."""

    def __init__(
        self,
        filenames: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        read = _strings("TFRecordDataset", compression_type, buffer_size)
        super().__init__(filenames, read, num_parallel_reads)


class FixedLengthRecordDataset(_Reading):
    """Records of one length, between a header and a footer of the file."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: int | None = None,
    ) -> None:
        def read(filename: Tensor) -> Dataset:
            record = to_tensor(record_bytes, int64, name="record_bytes")
            header = _number(header_bytes, "header_bytes", 0)
            footer = _number(footer_bytes, "footer_bytes", 0)
            size = _number(buffer_size, "buffer_size", BUFFER_BYTES)
            compression = _compression(compression_type)
            variant = apply_op(
                "FixedLengthRecordDatasetV2", filename, header, record, footer, size, compression
            )
            return DatasetV1Adapter(variant, _SPEC)

        super().__init__(filenames, read, num_parallel_reads)
