"""Cases of the parsers of examples: ops/examples.py and sequence_examples.py."""

import numpy as np

from ops.cases import case, strings


def _message(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def _map(**features: bytes) -> bytes:
    """Messages by key: field 1 of Features, and of FeatureLists."""
    entries = ((_message(1, k.encode()) + _message(2, v)) for k, v in sorted(features.items()))
    return b"".join(_message(1, entry) for entry in entries)


def _ints(*values: int) -> bytes:
    return _message(3, _message(1, bytes(values)))


def _floats(*values: float) -> bytes:
    return _message(2, _message(1, np.array(values, "<f4").tobytes()))


_ONE = _message(1, _map(a=_ints(1, 2), b=_floats(0.5, 1.5), c=_ints(7)))
_TWO = _message(1, _map(a=_ints(3), c=_ints(8, 9)))
_STEPS = _message(1, _ints(1)) + _message(1, _ints(2))
_SEQUENCE = _ONE + _message(2, _map(d=_STEPS, e=_STEPS))
_NONE = np.empty(0, object)
_DEFAULT = np.array([7, 8], "float32")
_ZERO = np.array(0, "int64")

CASES = {
    "ParseExample": [
        case(
            strings(_ONE, _TWO), _NONE, [b"a"], [b"b", b"c"], [_DEFAULT, _ZERO],
            sparse_types=["int64"], dense_shapes=[(2,), (None,)],
        ),
    ],
    "ParseSingleExample": [
        case(
            _TWO, [_DEFAULT, _ZERO], num_sparse=1, sparse_keys=["a"],
            dense_keys=["b", "c"], sparse_types=["int64"], dense_shapes=[(2,), (None,)],
        ),
    ],
    "ParseSingleSequenceExample": [
        case(
            _SEQUENCE, _NONE, [b"a"], [b"b"], [b"d"], [b"e"], [_DEFAULT], b"name",
            context_sparse_types=["int64"], context_dense_shapes=[(2,)],
            feature_list_sparse_types=["int64"], feature_list_dense_types=["int64"],
            feature_list_dense_shapes=[(1,)],
        ),
    ],
    "ParseSequenceExample": [
        case(
            strings(_SEQUENCE, _SEQUENCE), _NONE, [_DEFAULT],
            feature_list_dense_missing_assumed_empty=[], context_sparse_keys=["a"],
            context_dense_keys=["b"], feature_list_sparse_keys=["d"],
            feature_list_dense_keys=["e"], Ncontext_sparse=1, Ncontext_dense=1,
            Nfeature_list_sparse=1, Nfeature_list_dense=1, context_sparse_types=["int64"],
            context_dense_shapes=[(2,)], feature_list_sparse_types=["int64"],
            feature_list_dense_types=["int64"], feature_list_dense_shapes=[(1,)],
        ),
    ],
}  # fmt: skip
CASES = {
    name: [c.without("full shape", why="depends on the values") for c in cases]
    for name, cases in CASES.items()
}
