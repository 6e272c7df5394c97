"""Record files, whole and damaged."""

from __future__ import annotations

import pytest

from minitf_runtime.errors import DataLossError, NotFoundError
from minitf_runtime.storage.records import read_records, record_bytes

RECORDS = [b"", b"one", bytes(5000)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "records"
    path.write_bytes(b"".join(map(record_bytes, RECORDS)))
    return path


def test_round_trip(file):
    assert list(read_records(str(file))) == RECORDS


@pytest.mark.parametrize("size, whole", [(5, 0), (20, 1), (-1, 2), (-5010, 2)])
def test_cut_off(file, size, whole):
    file.write_bytes(file.read_bytes()[:size])
    seen = []
    with pytest.raises(DataLossError, match=f"truncated record at .* of {file}"):
        seen.extend(read_records(str(file)))
    assert seen == RECORDS[:whole]


@pytest.mark.parametrize("at", [0, 9, 16, 28, -1, -300])
def test_flipped_bits(file, at):
    data = bytearray(file.read_bytes())
    data[at] ^= 1
    file.write_bytes(data)
    with pytest.raises(DataLossError, match="record at"):
        list(read_records(str(file)))


def test_missing(tmp_path):
    with pytest.raises(NotFoundError, match="none; No such file"):
        list(read_records(str(tmp_path / "none")))
