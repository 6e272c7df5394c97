"""The ops of files and pictures, which few programs have: loaded when one is asked for."""

from minitf_runtime.ops import (
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
)

__all__ = [
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
]
