"""MNIST from files on disk: training, validation and test sets, in shuffled batches."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from minitf.ops.random import get_seed
from minitf_runtime.types import as_dtype, float32, uint8

__all__ = ["DataSet", "Datasets", "read_data_sets"]

SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_IMAGES, _LABELS = 2051, 2049  # the first number of an IDX file: bytes in 3 axes, or in 1
_GZIP = b"\x1f\x8b"


class DataSet:
    """Images and their labels, given out in batches (TF: DataSet of contrib.learn).

    Shuffles with NumPy's global generator, which it seeds: from `seed`, or the graph's seed.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = as_dtype(dtype).base
        if dtype not in (uint8, float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._one_hot = one_hot
        self._num_examples = 10000
        if not fake_data:
            _check_same_length(images, labels)
            self._num_examples = len(images)
            images = _prepared(images, dtype is float32, reshape)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """[examples, pixels] or, not reshaped, [examples, rows, columns, 1]."""
        return self._images

    @property
    def labels(self) -> Any:
        """Digits: uint8 [examples], or one-hot float64 [examples, 10]."""
        return self._labels

    @property
    def num_examples(self) -> int:
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels. A batch may reach from one epoch into the next."""
        if fake_data:
            label: Any = [1] + [0] * 9 if self._one_hot else 0
            return [[1] * 784 for _ in range(batch_size)], [label for _ in range(batch_size)]
        start, end = self._index_in_epoch, self._index_in_epoch + batch_size
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        old_images, old_labels = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        end = self._index_in_epoch = end - self._num_examples
        return (
            np.concatenate((old_images, self._images[:end])),
            np.concatenate((old_labels, self._labels[:end])),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


class Datasets(NamedTuple):
    """The three sets of a problem."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: Any,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = SOURCE_URL,
) -> Datasets:
    """MNIST from the four IDX files in `train_dir`, gzipped or not.

    Nothing is downloaded: raises FileNotFoundError, which says what to put where. Raises
    ValueError for a file that is not whole, or a `validation_size` beyond the training images.
    """
    options = dict(dtype=dtype, seed=seed)
    if fake_data:
        fake = dict(fake_data=True, one_hot=one_hot)
        return Datasets(*(DataSet([], [], **fake, **options) for _ in Datasets._fields))
    folder = _Folder(Path(train_dir), source_url or SOURCE_URL, one_hot)
    images, labels = folder.images("train"), folder.labels("train")
    test = folder.images("t10k"), folder.labels("t10k")
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    n = validation_size
    parts = (images[n:], labels[n:]), (images[:n], labels[:n]), test
    return Datasets(*(DataSet(*part, reshape=reshape, **options) for part in parts))


class _Folder(NamedTuple):
    """Where the files lie, where they come from, and how labels are wanted."""

    path: Path
    url: str
    one_hot: bool

    def images(self, part: str) -> np.ndarray:
        values = self._read(f"{part}-images-idx3-ubyte", _IMAGES, 3)
        return values.reshape(*values.shape, 1)

    def labels(self, part: str) -> np.ndarray:
        values = self._read(f"{part}-labels-idx1-ubyte", _LABELS, 1)
        return np.eye(10)[values] if self.one_hot else values

    def _read(self, name: str, magic: int, rank: int) -> np.ndarray:
        file = next((f for n in (f"{name}.gz", name) if (f := self.path / n).is_file()), None)
        if file is None:
            raise FileNotFoundError(
                f"MNIST file {name}.gz is not in {str(self.path)!r} (in full: "
                f"{str(self.path.absolute())!r}), and {name} is not there either. Nothing is "
                f"downloaded: get {self.url}{name}.gz and put it there."
            )
        print("Extracting", file)
        try:
            return _parse(file.read_bytes(), magic, rank)
        except (ValueError, EOFError, OSError) as e:
            raise ValueError(
                f"MNIST file {str(file)!r} is broken: {e}. A whole one is {self.url}{name}.gz"
            ) from e


def _parse(data: bytes, magic: int, rank: int) -> np.ndarray:
    """The bytes of an IDX file as an array. Raises ValueError, EOFError or OSError."""
    if data.startswith(_GZIP):
        data = gzip.decompress(data)
    found, *shape = np.frombuffer(data[: len(data) // 4 * 4], ">u4")[: rank + 1].tolist() or [None]
    if found != magic:
        raise ValueError(f"it begins with the number {found}, expected {magic}")
    if len(shape) < rank:
        raise ValueError(f"its header ends after {len(data)} bytes")
    values = np.frombuffer(data, np.uint8, offset=4 * (rank + 1))
    expected = int(np.prod(shape))
    if len(values) < expected:
        raise ValueError(f"it holds {len(values)} bytes of values, expected {expected}")
    return values[:expected].reshape(shape)


def _check_same_length(images: Any, labels: Any) -> None:
    if len(images) != len(labels):
        raise ValueError(
            f"As many labels as images are needed: images.shape: {images.shape} "
            f"labels.shape: {labels.shape}"
        )


def _prepared(images: Any, scaled: bool, reshape: bool) -> Any:
    """Images as rows of pixels, if so wanted, and from 0 to 1."""
    if reshape:
        if images.shape[3] != 1:
            raise ValueError(f"Only images of one channel can be reshaped, got {images.shape}")
        images = images.reshape(len(images), images.shape[1] * images.shape[2])
    return np.multiply(images.astype(np.float32), np.float32(1 / 255)) if scaled else images
