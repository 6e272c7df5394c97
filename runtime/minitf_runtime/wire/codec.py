"""Messages to frames and back: a msgpack header, then one frame per large array.

Nothing executable: only the types listed here are read; anything else raises DataLossError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import msgpack
import numpy as np

from minitf_runtime.errors import BY_CODE, DataLossError, OpError
from minitf_runtime.types import DEAD, DTYPES, DType, as_dtype
from minitf_runtime.wire.messages import MESSAGES

INLINE_BYTES = 2048  # smaller arrays ride in the header
_ARRAY, _FRAME, _STRINGS, _TUPLE, _DTYPE, _RECORD, _ERROR, _SCALAR, _SET, _DEAD = range(1, 11)
_numeric = [np.dtype(t.as_numpy_dtype) for t in DTYPES if t.is_numpy_compatible]
_DTYPES = {dtype.str: dtype for dtype in _numeric if not dtype.hasobject}
_records: dict[str, type] = {}
_fields: dict[type, tuple[str, ...]] = {}
_plain = msgpack.Packer(strict_types=True, use_bin_type=True)


def record(*types: type) -> None:
    """Lets these dataclasses and named tuples travel, by their name and fields."""
    for t in types:
        if is_dataclass(t):
            _fields[t] = tuple(f.name for f in fields(t))
        elif hasattr(t, "_fields"):
            _fields[t] = t._fields
        else:
            raise TypeError(f"{t.__name__} is neither a dataclass nor a named tuple")
        _records[t.__name__] = t


record(*MESSAGES)


def encode(message: Any) -> list[Any]:
    """The frames of a message; large arrays are handed over without a copy.

    A tuple of a number and a message comes out as a list.
    """
    frames: list[Any] = [b""]
    frames[0] = _packer(frames).pack(list(message) if type(message) is tuple else message)
    return frames


def decode(header: Any, frames: Sequence[Any]) -> Any:
    """The message of a header and its frames. Raises DataLossError for anything not understood."""
    try:
        return _unpack(header, frames)
    except DataLossError:
        raise
    except Exception as e:
        kind = type(e).__name__  # its text may hold the whole message
        raise DataLossError(None, None, f"a message that cannot be read ({kind})") from None


def _packer(frames: list[Any]) -> msgpack.Packer:
    return msgpack.Packer(
        default=lambda value: _pack_value(value, frames), strict_types=True, use_bin_type=True
    )


def _pack_value(value: Any, frames: list[Any]) -> Any:
    if isinstance(value, np.ndarray):
        return _pack_array(value, frames)
    if isinstance(value, np.generic):
        return msgpack.ExtType(_SCALAR, _plain.pack([value.dtype.str, value.tobytes()]))
    names = _fields.get(type(value))
    if names is not None:
        # by attribute: asdict would copy nested values
        content = [getattr(value, name) for name in names]
        return msgpack.ExtType(_RECORD, _inner([type(value).__name__, content], frames))
    if isinstance(value, tuple):
        return msgpack.ExtType(_TUPLE, _inner(list(value), frames))
    if isinstance(value, DType):
        return msgpack.ExtType(_DTYPE, value.name.encode())
    if isinstance(value, OpError):
        content = [value.code, str(value.message), value.node, value.device, value.source]
        return msgpack.ExtType(_ERROR, _inner(content, frames))
    if isinstance(value, BaseException):
        return msgpack.ExtType(_ERROR, _inner([2, repr(value), None, None, None], frames))
    if isinstance(value, (frozenset, set)):
        return msgpack.ExtType(_SET, _inner(sorted(value), frames))
    if value is DEAD:
        return msgpack.ExtType(_DEAD, b"")
    if isinstance(value, dict) or hasattr(value, "items"):
        return dict(value.items())
    raise TypeError(f"a {type(value).__name__} cannot travel between tasks: {value!r}")


def _pack_array(value: Any, frames: list[Any]) -> Any:
    if value.dtype == object:
        content = [list(value.shape), [_bytes(v) for v in value.ravel().tolist()]]
        return msgpack.ExtType(_STRINGS, _inner(content, frames))
    value = np.ascontiguousarray(value).reshape(value.shape)
    head = [value.dtype.str, list(value.shape)]
    if value.nbytes <= INLINE_BYTES:
        return msgpack.ExtType(_ARRAY, _plain.pack([*head, value.tobytes()]))
    frames.append(memoryview(value.reshape(-1).view(np.uint8)))
    return msgpack.ExtType(_FRAME, _plain.pack([*head, len(frames) - 2]))


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"a {type(value).__name__} in a string tensor cannot travel between tasks")
    return value


def _inner(content: Any, frames: list[Any]) -> bytes:
    return _packer(frames).pack(content)  # type: ignore[no-any-return]


def _unpack(data: Any, frames: Sequence[Any]) -> Any:
    def read(code: int, content: Any) -> Any:
        if code not in _READERS:
            raise DataLossError(None, None, f"unknown kind of value {code} in a message")
        return _READERS[code](content, frames)

    return msgpack.unpackb(data, ext_hook=read, strict_map_key=False, raw=False)


def _array_from(kind: str, shape: Any, data: Any) -> Any:
    dtype = _DTYPES.get(kind)
    if dtype is None:
        raise DataLossError(None, None, f"an array of type {kind!r} in a message")
    return np.frombuffer(data, dtype).reshape(shape)


def _read_array(content: Any, frames: Sequence[Any]) -> Any:
    kind, shape, data = _unpack(content, frames)
    return _array_from(kind, shape, data)


def _read_frame(content: Any, frames: Sequence[Any]) -> Any:
    kind, shape, at = _unpack(content, frames)
    return _array_from(kind, shape, frames[at])


def _read_scalar(content: Any, frames: Sequence[Any]) -> Any:
    kind, data = _unpack(content, frames)
    return _array_from(kind, (), data)[()]


def _read_strings(content: Any, frames: Sequence[Any]) -> Any:
    shape, items = _unpack(content, frames)
    out = np.empty(len(items), object)
    out[:] = [_bytes(v) for v in items]
    return out.reshape(shape)


def _read_record(content: Any, frames: Sequence[Any]) -> Any:
    name, values = _unpack(content, frames)
    return _records[name](*values)


def _read_error(content: Any, frames: Sequence[Any]) -> Any:
    code, message, node, device, source = _unpack(content, frames)
    error = BY_CODE[code](None, None, message)
    error.node, error.device, error.source = node, device, source
    return error


_READERS: dict[int, Callable[[Any, Sequence[Any]], Any]] = {
    _ARRAY: _read_array,
    _FRAME: _read_frame,
    _STRINGS: _read_strings,
    _TUPLE: lambda content, frames: tuple(_unpack(content, frames)),
    _DTYPE: lambda content, frames: as_dtype(bytes(content).decode()),
    _RECORD: _read_record,
    _ERROR: _read_error,
    _SCALAR: _read_scalar,
    _SET: lambda content, frames: frozenset(_unpack(content, frames)),
    _DEAD: lambda content, frames: DEAD,
}
