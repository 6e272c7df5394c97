"""Checkpoints of a real TensorFlow 1.15 read here; ours are the same, byte by byte."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from data.checkpoints.record import contents
from minitf_runtime.errors import DataLossError, InvalidArgumentError, NotFoundError
from minitf_runtime.storage.bundle import BundleReader, Piece, merge_bundles, write_bundle
from minitf_runtime.storage.old_checkpoint import open_checkpoint
from minitf_runtime.storage.slices import Box, decode, encode, parse_spec, show, slice_key
from minitf_runtime.types import as_dtype, float32

ARCHIVE = Path(__file__).parents[1] / "data" / "checkpoints" / "checkpoints.zip"
DATA = ".data-00000-of-00001"


@pytest.fixture
def theirs(tmp_path):
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path / "theirs")
    return tmp_path / "theirs"


def pieces(reader):
    """The tensors of a checkpoint as they would be saved, parts as parts."""
    for name, entry in reader.tensors().items():
        for box in entry.parts or [None]:
            yield Piece(name.encode(), reader.read(name, box), entry.dtype, entry.shape, box)


@pytest.mark.parametrize("name", ["plain", "sharded", "old", "old_sharded-?????-of-00001"])
def test_reads_theirs(theirs, name):
    reader = open_checkpoint(str(theirs / name))
    want = contents()
    assert reader.tensors().keys() == want.keys()
    for tensor, value in want.items():
        got = reader.read(tensor)
        assert got.dtype == value.dtype
        np.testing.assert_array_equal(got, value)


def test_writes_as_they_do(theirs, tmp_path):
    reader = BundleReader(str(theirs / "plain"))
    write_bundle(str(tmp_path / "ours"), pieces(reader))
    assert (tmp_path / f"ours{DATA}").read_bytes() == (theirs / f"plain{DATA}").read_bytes()
    assert BundleReader(str(tmp_path / "ours")).entries == reader.entries


@pytest.mark.parametrize("name", ["plain", "old"])
def test_a_box_across_the_parts(theirs, name):
    reader = open_checkpoint(str(theirs / name))
    _, box = parse_spec("5 4 1,3:2,2")
    want = contents()["scope/rows"][1:4, 2:4]
    np.testing.assert_array_equal(reader.read("scope/rows", box), want)
    np.testing.assert_array_equal(reader.read("float32", Box((1, 0), (1, 2))), [[3.0, 4.0]])
    with pytest.raises(InvalidArgumentError, match="does not fit"):
        reader.read("scope/rows", Box((4, 0), (2, 4)))


def piece(name, value):
    return Piece(name.encode(), value, as_dtype(value.dtype))


def test_merge_moves_the_data(tmp_path):
    parts = [str(tmp_path / "temp" / f"part-{i}") for i in range(2)]
    for i, part in enumerate(parts):
        write_bundle(part, [
            piece(f"v{i}", np.full(3, i)),
            Piece(b"w", np.full([1, 2], i, np.float32), float32, (2, 2), Box((i, 0), (1, 2))),
        ])  # fmt: skip
    merge_bundles(parts, str(tmp_path / "all"), True)
    reader = BundleReader(str(tmp_path / "all"))
    np.testing.assert_array_equal(reader.read("v1"), [1, 1, 1])
    np.testing.assert_array_equal(reader.read("w"), [[0, 0], [1, 1]])
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "all.data-00000-of-00002", "all.data-00001-of-00002", "all.index",
    ]  # fmt: skip


def test_merge_refuses_one_name_twice(tmp_path):
    parts = [str(tmp_path / f"part-{i}") for i in range(2)]
    for part in parts:
        write_bundle(part, [piece("v", np.zeros(2))])
    with pytest.raises(InvalidArgumentError, match="Duplicate tensor keyed by v"):
        merge_bundles(parts, str(tmp_path / "all"), True)
    assert not (tmp_path / "all.index").exists()
    np.testing.assert_array_equal(BundleReader(parts[0]).read("v"), [0, 0])


def test_a_name_twice(tmp_path):
    with pytest.raises(InvalidArgumentError, match="duplicate key: v"):
        write_bundle(str(tmp_path / "m"), [piece("v", np.zeros(1)), piece("v", np.ones(1))])
    assert not list(tmp_path.iterdir())


def test_missing_parts_of_it(theirs, tmp_path):
    with pytest.raises(NotFoundError, match="Failed to find any matching files for"):
        BundleReader(str(tmp_path / "none"))
    reader = BundleReader(str(theirs / "plain"))
    with pytest.raises(NotFoundError, match="Key none not found in checkpoint"):
        reader.read("none")
    (theirs / f"plain{DATA}").unlink()
    with pytest.raises(NotFoundError, match=f"plain{DATA}"):
        reader.read("float32")


@pytest.mark.parametrize("at", [0, 5, 100, 400, -60, -50, -30, -20, -1])
def test_a_flipped_bit_of_the_index_is_found(theirs, at):
    index = theirs / "plain.index"
    data = bytearray(index.read_bytes())
    data[at] ^= 16
    index.write_bytes(data)
    try:
        entries = BundleReader(str(theirs / "plain")).entries
    except DataLossError as e:
        assert str(index) in str(e)
    else:  # padding, or the index of metadata that nobody reads
        assert entries.keys() and at in (-20, -30)


@pytest.mark.parametrize("size", [0, 10, 47, 48, 100, 700])
def test_a_cut_index(theirs, size):
    index = theirs / "plain.index"
    index.write_bytes(index.read_bytes()[:size])
    with pytest.raises(DataLossError, match=f"{index}: .*at byte"):
        BundleReader(str(theirs / "plain"))


@pytest.mark.parametrize("name", ["float32", "strings", "scope/rows", "bool"])
def test_flipped_bits_of_the_data_are_found(theirs, name):
    data = theirs / f"plain{DATA}"
    data.write_bytes(bytes(b ^ 4 for b in data.read_bytes()))
    with pytest.raises(DataLossError, match=f"{data}: tensor {name}"):
        BundleReader(str(theirs / "plain")).read(name)


def test_an_index_of_another_kind(tmp_path):
    (tmp_path / "m.index").write_bytes(b"no table at all" * 10)
    with pytest.raises(DataLossError, match="not a table"):
        BundleReader(str(tmp_path / "m"))


def test_slices_as_text_and_as_message():
    shape, box = parse_spec("10 4 0,5:-")
    assert shape == (10, 4) and show(box) == "0,5:-"
    assert decode(encode(box)) == box
    assert box.within(shape) == Box((0, 0), (5, 4))
    for text in ("10 4", "x 0,1", "3 1", ""):
        with pytest.raises(InvalidArgumentError, match="cannot read"):
            parse_spec(text)


def test_keys_of_slices_sort_as_their_numbers():
    starts = [-(2**40), -65, -64, -1, 0, 1, 63, 64, 8191, 8192, 2**20, 2**40, 2**62]
    keys = [slice_key(b"v", Box((s,), (1,))) for s in starts]
    assert keys == sorted(keys)
    assert slice_key(b"w", Box((0, 0), (4, 4))).hex() == "007700010102808480 84".replace(" ", "")
