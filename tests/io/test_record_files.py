"""TFRecord files outside of graphs, compressed or not."""

from __future__ import annotations

import gzip
import zlib

import pytest

import minitf as tf
from minitf_runtime.errors import DataLossError, FailedPreconditionError, NotFoundError

RECORDS = [b"one", b"", bytes(range(256)) * 500, b"two" * 100_000]
KINDS = ["", "ZLIB", "GZIP"]


def write(path, records=RECORDS, **options):
    with tf.python_io.TFRecordWriter(str(path), tf.python_io.TFRecordOptions(**options)) as writer:
        for record in records:
            writer.write(record)
    return path.read_bytes()


def read(path, kind=""):
    return list(tf.python_io.tf_record_iterator(str(path), kind))


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip(tmp_path, kind):
    write(tmp_path / "file", compression_type=kind)
    assert read(tmp_path / "file", kind) == RECORDS


def test_compressed_as_zlib_and_gzip_do(tmp_path):
    plain = write(tmp_path / "plain")
    assert zlib.decompress(write(tmp_path / "z", compression_type="ZLIB")) == plain
    assert gzip.decompress(write(tmp_path / "gz", compression_type="GZIP")) == plain
    (tmp_path / "other").write_bytes(zlib.compress(plain, 1) + b"what follows is ignored")
    assert read(tmp_path / "other", "ZLIB") == RECORDS


@pytest.mark.parametrize(
    "options",
    [
        dict(compression_level=0),
        dict(flush_mode=zlib.Z_FULL_FLUSH, input_buffer_size=1000),
        dict(window_bits=9, mem_level=1, compression_strategy=zlib.Z_HUFFMAN_ONLY),
    ],
)
def test_settings_of_zlib(tmp_path, options):
    default = write(tmp_path / "default", compression_type="ZLIB")
    assert write(tmp_path / "set", compression_type="ZLIB", **options) != default
    assert read(tmp_path / "set", "ZLIB") == RECORDS


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_flushed_can_be_read(tmp_path, kind):
    path = str(tmp_path / "file")
    writer = tf.python_io.TFRecordWriter(path, kind)
    writer.write(b"one")
    writer.flush()
    assert next(tf.python_io.tf_record_iterator(path, kind)) == b"one"
    writer.write(b"two")
    writer.close()
    writer.close()
    assert read(path, kind) == [b"one", b"two"]
    for use in (writer.flush, lambda: writer.write(b"three")):
        with pytest.raises(FailedPreconditionError, match="previously closed"):
            use()


def test_memory_is_bounded(tmp_path):
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "file"))
    for _ in range(8):
        writer.write(bytes(100_000))
    assert (tmp_path / "file").stat().st_size > 500_000


def test_a_writer_begins_anew(tmp_path):
    write(tmp_path / "file", [b"old", b"older"])
    write(tmp_path / "file", [b"new"])
    assert read(tmp_path / "file") == [b"new"]


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_damaged(tmp_path, kind):
    data = write(tmp_path / "file", compression_type=kind)
    (tmp_path / "file").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataLossError, match="truncated record"):
        read(tmp_path / "file", kind)
    (tmp_path / "file").write_bytes(b"this is no such file")
    with pytest.raises(DataLossError, match="inflate.. failed with error -3: incorrect header"):
        read(tmp_path / "file", kind)


def test_what_cannot_be(tmp_path):
    with pytest.raises(NotFoundError, match="none/file; No such file"):
        tf.python_io.TFRecordWriter(str(tmp_path / "none" / "file"))
    with pytest.raises(NotFoundError, match="none; No such file"):
        read(tmp_path / "none")
    with pytest.raises(TypeError, match="expected bytes, str found"):
        write(tmp_path / "file", ["text"])
    for bad in (5, "BZ2"):
        with pytest.raises(ValueError, match="Not a valid compression_type"):
            tf.python_io.TFRecordOptions(bad)


def test_names_of_compressions():
    types, options = tf.python_io.TFRecordCompressionType, tf.python_io.TFRecordOptions
    name = options.get_compression_type_string
    assert [name(t) for t in (types.NONE, types.ZLIB, types.GZIP)] == KINDS
    assert name(options(options("ZLIB"))) == "ZLIB"
    assert name(None) == ""
