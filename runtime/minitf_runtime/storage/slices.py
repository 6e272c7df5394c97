"""Boxes of a tensor: how a checkpoint names the parts of a partitioned variable."""

from __future__ import annotations

from typing import NamedTuple

from minitf_runtime.errors import invalid
from minitf_runtime.storage.protobuf import bytes_field, fields, int_field, signed

FULL = -1  # the length of an axis that is taken whole


class Box(NamedTuple):
    """A start and a length (or FULL) for each axis."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def within(self, shape: tuple[int, ...]) -> Box:
        """The same with all lengths told. Raises InvalidArgumentError if it does not fit."""
        lengths = tuple(n if k == FULL else k for k, n in zip(self.lengths, shape))
        fits = all(s >= 0 and s + k <= n for s, k, n in zip(self.starts, lengths, shape))
        if len(shape) != len(self.starts) or not fits:
            raise invalid(f"slice {show(self)} does not fit the shape {list(shape)}")
        return Box(self.starts, lengths)

    def as_slices(self) -> tuple[slice, ...]:
        return tuple(slice(s, s + k) for s, k in zip(self.starts, self.lengths))

    def overlap(self, other: Box) -> Box | None:
        starts = tuple(map(max, self.starts, other.starts))
        ends = (min(a + k, b + m) for a, k, b, m in zip(*self, *other))
        lengths = tuple(e - s for s, e in zip(starts, ends))
        return Box(starts, lengths) if all(k > 0 for k in lengths) else None

    def relative_to(self, other: Box) -> Box:
        return Box(tuple(a - b for a, b in zip(self.starts, other.starts)), self.lengths)


def whole(shape: tuple[int, ...]) -> Box:
    return Box((0,) * len(shape), tuple(shape))


def show(box: Box) -> str:
    return ":".join("-" if k == FULL else f"{s},{k}" for s, k in zip(*box))


def parse_spec(text: str) -> tuple[tuple[int, ...], Box]:
    """'10 4 0,5:-' -> the full shape and the box. Raises InvalidArgumentError."""
    *sizes, box = text.split(" ")
    try:
        shape = tuple(map(int, sizes))
        pairs = [(0, FULL) if p == "-" else tuple(map(int, p.split(","))) for p in box.split(":")]
        starts, lengths = zip(*pairs)
    except ValueError:
        raise invalid(f"cannot read the shape and slice '{text}'") from None
    return shape, Box(starts, lengths)


def encode(box: Box) -> bytes:
    """The box as a TensorSliceProto."""
    return b"".join(
        bytes_field(1, b"" if k == FULL else (int_field(1, s) if s else b"") + int_field(2, k))
        for s, k in zip(*box)
    )


def decode(data: bytes) -> Box:
    pairs = []
    for _, _, extent in fields(data):
        values = {number: signed(value) for number, _, value in fields(extent)}
        pairs.append((values.get(1, 0), values.get(2, FULL)))
    return Box(tuple(s for s, _ in pairs), tuple(k for _, k in pairs))


def slice_key(name: bytes, box: Box) -> bytes:
    """The key of a part in the index, in an encoding that sorts as its fields do."""
    out = _number(0) + name.replace(b"\xff", b"\xff\x00").replace(b"\0", b"\0\xff") + b"\0\1"
    out += _number(len(box.starts))
    return out + b"".join(_signed_number(s) + _signed_number(k) for s, k in zip(*box))


def _number(value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return bytes([size]) + value.to_bytes(size, "big")


def _signed_number(value: int) -> bytes:
    """A length in leading one bits, then the value; all bits turned for a negative one."""
    magnitude = ~value if value < 0 else value
    size = magnitude.bit_length() // 7 + 1
    bits = magnitude | ((1 << size) - 1) << (size * 7)
    out = bits.to_bytes(size, "big")
    return bytes(~b & 255 for b in out) if value < 0 else out
