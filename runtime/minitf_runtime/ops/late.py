"""Ops of files, pictures, datasets and clusters of points: loaded when one is asked for."""

from minitf_runtime.ops import (
    clustering,
    datasets,
    decoding,
    examples,
    image_boxes,
    image_codecs,
    image_colour,
    image_crop,
    image_resize,
    image_sampling,
    readers,
    sequence_examples,
    sparse_boxes,
)

__all__ = [
    "clustering",
    "datasets",
    "decoding",
    "examples",
    "image_boxes",
    "image_codecs",
    "image_colour",
    "image_crop",
    "image_resize",
    "image_sampling",
    "readers",
    "sequence_examples",
    "sparse_boxes",
]
