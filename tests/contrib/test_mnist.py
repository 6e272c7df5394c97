"""MNIST from files: TensorFlow's batches in TensorFlow's order, and clear errors. No download."""

from __future__ import annotations

import gzip
import struct

import numpy as np
import pytest

import minitf as tf
from minitf.examples.tutorials.mnist import input_data, mnist

LABELS = [i % 10 for i in range(12)]


def idx(magic: int, shape: list[int], values: list[int]) -> bytes:
    return struct.pack(f">{1 + len(shape)}i", magic, *shape) + bytes(values)


@pytest.fixture
def folder(tmp_path):
    """12 training and 2 test images of 2 x 3 pixels; every pixel tells the image's number."""
    for part, count in ("train", 12), ("t10k", 2):
        pixels = [i for i in range(count) for _ in range(6)]
        files = {
            f"{part}-images-idx3-ubyte.gz": idx(2051, [count, 2, 3], pixels),
            f"{part}-labels-idx1-ubyte.gz": idx(2049, [count], LABELS[:count]),
        }
        for name, data in files.items():
            (tmp_path / name).write_bytes(gzip.compress(data))
    return tmp_path


def test_three_sets(folder, capsys):
    data = input_data.read_data_sets(str(folder), validation_size=4)
    assert [s.num_examples for s in data] == [8, 4, 2]
    assert data.train.images.shape == (8, 6)
    assert data.train.images.dtype == np.float32
    np.testing.assert_allclose(data.train.images[:, 0], np.arange(4, 12) / 255, rtol=1e-6)
    assert data.validation.labels.tolist() == [0, 1, 2, 3]
    assert data.test.labels.dtype == np.uint8
    assert capsys.readouterr().out.split()[:2] == [
        "Extracting",
        str(folder / "train-images-idx3-ubyte.gz"),
    ]


def test_as_bytes_and_one_hot(folder):
    data = input_data.read_data_sets(
        folder, one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0
    )
    assert data.train.images.shape == (12, 2, 3, 1)
    assert data.train.images[7].max() == 7
    assert data.train.labels.dtype == np.float64
    assert data.train.labels.argmax(1).tolist() == LABELS
    assert data.train.labels.sum() == 12


def test_batches_in_the_order_of_tensorflow(folder):
    train = input_data.read_data_sets(folder, dtype=tf.uint8, validation_size=0, seed=3).train
    batches = [train.next_batch(5)[0][:, 0].tolist() for _ in range(5)]
    # as TensorFlow 1.15.5 gives them
    assert batches == [
        [5, 4, 1, 2, 11],
        [6, 7, 0, 3, 9],
        [8, 10, 2, 10, 4],
        [1, 9, 3, 11, 5],
        [7, 0, 6, 8, 9],
    ]
    assert train.epochs_completed == 2


def test_batches_unshuffled(folder):
    test = input_data.read_data_sets(folder, dtype=tf.uint8, validation_size=0).test
    assert [test.next_batch(1, shuffle=False)[1].tolist() for _ in range(3)] == [[0], [1], [0]]
    assert test.epochs_completed == 1


def test_the_graphs_seed_counts(folder):
    def order():
        with tf.Graph().as_default():
            tf.set_random_seed(5)
            return input_data.read_data_sets(folder, validation_size=0).train.next_batch(12)[1]

    assert order().tolist() == order().tolist()


def test_fake_data():
    images, labels = input_data.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(
        2, fake_data=True
    )
    assert np.shape(images) == (2, 784)
    assert labels == [[1] + [0] * 9] * 2


def test_files_that_are_not_gzipped(folder):
    for file in list(folder.iterdir()):
        file.with_suffix("").write_bytes(gzip.decompress(file.read_bytes()))
        file.unlink()
    assert input_data.read_data_sets(folder, validation_size=0).train.num_examples == 12


def test_a_missing_file(folder):
    (folder / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError) as e:
        input_data.read_data_sets(folder, source_url="http://there/")
    for part in "t10k-labels-idx1-ubyte.gz", str(folder), "http://there/t10k-labels-idx1-ubyte.gz":
        assert part in str(e.value)


@pytest.mark.parametrize(
    "data, fault",
    [
        (gzip.compress(idx(2049, [1], [1])), "begins with the number 2049, expected 2051"),
        (gzip.compress(idx(2051, [12, 2, 3], [1] * 71)), "holds 71 bytes of values, expected 72"),
        (gzip.compress(idx(2051, [12, 2, 3], [1] * 72))[:-12], "broken"),
        (b"<html>", "begins with the number 1013478509, expected 2051"),
        (b"", "begins with the number None, expected 2051"),
        (idx(2051, [12], []), "header ends after 8 bytes"),
    ],
)
def test_a_broken_file(folder, data, fault):
    (folder / "train-images-idx3-ubyte.gz").write_bytes(data)
    with pytest.raises(ValueError, match="train-images-idx3-ubyte.gz") as e:
        input_data.read_data_sets(folder)
    assert fault in str(e.value)


def test_arguments_that_do_not_fit(folder):
    with pytest.raises(ValueError, match="between 0 and 12. Received: 13"):
        input_data.read_data_sets(folder, validation_size=13)
    with pytest.raises(TypeError, match="Invalid image dtype"):
        input_data.read_data_sets(folder, dtype=tf.int32, validation_size=0)
    with pytest.raises(ValueError, match="As many labels as images"):
        input_data.DataSet(np.zeros([2, 1, 1, 1]), np.zeros([3]))


def test_the_network_learns():
    images = np.eye(10, mnist.IMAGE_PIXELS, dtype=np.float32)
    labels = np.arange(10)
    logits = mnist.inference(tf.constant(images), 16, 8)
    loss = mnist.loss(logits, tf.constant(labels))
    train = mnist.training(loss, 1.0)
    correct = mnist.evaluation(logits, tf.constant(labels))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = session.run(loss)
        for _ in range(300):
            session.run(train)
        assert session.run(loss) < start / 2
        assert 5 <= session.run(correct) <= 10
    assert [v.op.name for v in tf.trainable_variables()] == [
        f"{layer}/{name}"
        for layer in ("hidden1", "hidden2", "softmax_linear")
        for name in ("weights", "biases")
    ]
