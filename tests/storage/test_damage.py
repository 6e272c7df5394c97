"""Files that are really damaged, in many places: an error that names the file refuses them."""

from __future__ import annotations

import os
import random
import re
import zipfile
from pathlib import Path

import pytest

import minitf as tf
from data.exchange.record import read_graph
from minitf_runtime.storage.old_checkpoint import open_checkpoint
from minitf_runtime.storage.records import read_records, record_bytes

FILES = Path(__file__).parents[1] / "data"
ROUNDS = 30


@pytest.fixture
def directory(tmp_path):
    """Files of a real TensorFlow 1.15, and a meta graph of it as text."""
    for archive in ("checkpoints/checkpoints.zip", "exchange/recorded.zip"):
        zipfile.ZipFile(FILES / archive).extractall(tmp_path)
    return tmp_path


def damaged(data: bytes, random: random.Random) -> bytes:
    """The bytes with some flipped, cut off, left out or put in."""
    changed = bytearray(data)
    at = random.randrange(len(data))
    some = random.randrange(1, 40)
    kind = random.choice("flip flip flip cut omit insert".split())
    if kind == "flip":
        for place in {at, *(random.randrange(len(data)) for _ in range(random.choice([0, 0, 5])))}:
            changed[place] ^= 1 << random.randrange(8)
    elif kind == "cut":
        del changed[at:]
    elif kind == "omit":
        del changed[at : at + some]
    else:
        changed[at:at] = random.randbytes(some)
    return bytes(changed)


def outcomes(file, read, errors):
    """How many of the damaged files were read all the same. Each error must name the file."""
    data = file.read_bytes()
    shuffled = random.Random(file.name)
    read_anyway = 0
    for _ in range(ROUNDS):
        file.write_bytes(damaged(data, shuffled))
        try:
            read()
            read_anyway += 1
        except errors as e:
            assert str(file) in str(e)
    return read_anyway


def read_all(prefix):
    reader = open_checkpoint(str(prefix))
    return {name: reader.read(name).tolist() for name in reader.tensors()}


@pytest.mark.parametrize(
    "prefix, suffix", [("plain", ".index"), ("plain", ".data-00000-of-00001"), ("old", "")]
)
def test_checkpoints(directory, prefix, suffix):
    whole = read_all(directory / prefix)
    file = directory / f"{prefix}{suffix}"

    def read():
        assert read_all(directory / prefix) == whole  # padding and unread parts may be damaged

    outcomes(file, read, (tf.errors.DataLossError, tf.errors.UnimplementedError))


def import_graph(file):
    with tf.Graph().as_default():
        tf.train.import_meta_graph(str(file))


REFUSED = (OSError, ValueError, tf.errors.NotFoundError)  # no message; no graph; an unknown op


@pytest.mark.parametrize("name", ["mlp", "cnn", "rnn", "embedding", "sync"])
def test_meta_graphs(directory, name):
    file = directory / f"{name}.meta"
    # There are no checksums: a flipped bit of a number or of a name is another number or name.
    assert outcomes(file, lambda: import_graph(file), REFUSED) < ROUNDS / 4


def test_meta_graphs_as_text(directory):
    with tf.Graph().as_default():
        tf.train.import_meta_graph(str(directory / "sync.meta"))
        file = directory / "text.meta"
        tf.train.export_meta_graph(str(file), as_text=True)
    assert outcomes(file, lambda: import_graph(file), REFUSED) < ROUNDS / 4


@pytest.mark.parametrize("kind", ["frozen.pb", "frozen.pbtxt"])
@pytest.mark.parametrize("name", ["mlp", "rnn"])
def test_graph_defs(directory, name, kind):
    """Who opens the file knows its name: the errors tell the place in it, or the node."""
    file = directory / f"{name}.{kind}"
    data = file.read_bytes()
    shuffled = random.Random(kind)
    for _ in range(ROUNDS):
        file.write_bytes(damaged(data, shuffled))
        try:
            graph_def = read_graph(tf, str(file))
        except UnicodeDecodeError:
            assert kind.endswith("pbtxt")
            continue
        except ValueError as e:
            assert re.search(r"at byte \d+|line \d+, column \d+", str(e)), e
            continue
        try:
            with tf.Graph().as_default():
                tf.import_graph_def(graph_def)
        except (ValueError, tf.errors.NotFoundError) as e:
            assert re.search("[Nn]ode|cycle|GraphDef|colocation to an op", str(e)), e


def test_state_files(directory):
    """A state file that cannot be read is as none: there is no latest checkpoint."""
    tf.train.update_checkpoint_state(str(directory), str(directory / "plain"))
    file = directory / "checkpoint"
    data = file.read_bytes()
    shuffled = random.Random(1)
    for _ in range(ROUNDS):
        file.write_bytes(damaged(data, shuffled))
        try:
            found = tf.train.latest_checkpoint(str(directory))
        except ValueError as e:
            assert str(directory) in str(e)
        else:
            assert found is None or Path(found) == directory / "plain"


def test_records(tmp_path):
    records = [os.urandom(20) for _ in range(4)]
    file = tmp_path / "records"
    file.write_bytes(b"".join(map(record_bytes, records)))
    at_end = len(record_bytes(records[0])) * 3

    def read():
        got = list(read_records(str(file)))
        assert got == records[: len(got)] and file.stat().st_size in (0, at_end // 3 * len(got))

    outcomes(file, read, tf.errors.DataLossError)


@pytest.mark.parametrize("kind", ["png", "zip", "text", "zeros", "event"])
def test_files_of_another_kind(directory, kind):
    (directory / "other").mkdir()
    prefix = directory / "other" / "m"
    foreign = {
        "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "zip": (FILES / "checkpoints" / "checkpoints.zip").read_bytes(),
        "text": b"model_checkpoint_path: 3\n" * 20,
        "zeros": bytes(4096),
        "event": record_bytes(bytes(500)),
    }[kind]
    for name in ("m.index", "m.meta", "m", "checkpoint", "events"):
        (prefix.parent / name).write_bytes(foreign)
    with pytest.raises(tf.errors.DataLossError, match=r"m\.index: "):
        tf.train.load_checkpoint(str(prefix))
    (prefix.parent / "m.index").unlink()
    with pytest.raises(tf.errors.DataLossError, match="other/m: "):
        tf.train.load_checkpoint(str(prefix))
    with pytest.raises(OSError, match=r"Cannot parse file .*m\.meta: "):
        import_graph(prefix.parent / "m.meta")
    assert tf.train.latest_checkpoint(str(prefix.parent)) is None
    with pytest.raises(tf.errors.DataLossError, match="at 0 of .*events|events: record 0 is no"):
        list(tf.train.summary_iterator(str(prefix.parent / "events")))
