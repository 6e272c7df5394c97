"""Cases of ops on sparse tensors: ops/sparse.py, sparse_math.py and sets.py."""

import numpy as np

from ops.cases import case, f32, i32, ints, only_f32

_AT = np.array([[0, 1], [1, 0], [1, 2]])
_BT = np.array([[0, 1], [2, 2]])
_DENSE = np.array([[1, 2], [3, 3], [0, 0]])
_SIZES = ints(3, 3, dtype="int64")
_VALUES = "depends on the values"

CASES = {
    "SparseToDense": [
        case(_AT, _SIZES, f32(3), f32()),
        case(_AT, _SIZES, i32(3), 9),
        case(ints(0, 2), ints(3), 5, 1),
        case(1, ints(3), True, False),
        case(_AT[::-1].copy(), _SIZES, i32(3), 0, validate_indices=False),
    ],
    "SparseTensorDenseMatMul": [
        case(_AT, only_f32(3), _SIZES, only_f32(3, 2)),
        case(_AT, only_f32(3), ints(2, 3, dtype="int64"), only_f32(2, 2), adjoint_a=True),
        case(_AT, only_f32(3), _SIZES, only_f32(2, 3), adjoint_b=True),
    ],
    "SparseReorder": [case(_AT[[2, 0, 1]], f32(3), _SIZES)],
    "SparseReshape": [
        case(_AT, _SIZES, ints(9, dtype="int64")),
        case(_AT, ints(2, 6, dtype="int64"), ints(3, -1, 2, dtype="int64")),
    ],
    "SparseSplit": [
        case(np.int64(1), _AT, f32(3), _SIZES, num_split=2).without("full shape", why=_VALUES)
    ],
    "EditDistance": [
        case(_AT, ints(1, 2, 3), _SIZES, _BT, ints(2, 3), _SIZES, normalize=False),
        case(_AT, ints(1, 2, 3), _SIZES, _BT, ints(2, 3), _SIZES),
    ],
    "SparseFillEmptyRows": [
        case(_BT, only_f32(2), ints(4, 3, dtype="int64"), 7.0).without("full shape", why=_VALUES)
    ],
    "SparseFillEmptyRowsGrad": [case(ints(0, 2, dtype="int64"), f32(4))],
    "SparseConcat": [
        case([_AT, _BT], [f32(3), f32(2)], [_SIZES, _SIZES], concat_dim=1),
        case([_AT, _BT], [f32(3), f32(2)], [ints(2, 3, dtype="int64"), _SIZES], concat_dim=-2),
    ],
    "SparseSlice": [
        case(_AT, f32(3), _SIZES, ints(1, 0, dtype="int64"), ints(5, 1, dtype="int64")).without(
            "full shape", why=_VALUES
        )
    ],
    "SparseSliceGrad": [case(f32(1), _AT, ints(1, 0, dtype="int64"), np.array([[0, 0]]))],
    "SparseAdd": [
        case(_AT, only_f32(3), _SIZES, _BT, only_f32(2), _SIZES, threshold).without(
            "full shape", why=_VALUES
        )
        for threshold in (0.0, 0.5)
    ],
    "SparseAddGrad": [case(f32(4), _AT, _BT, np.concatenate([_AT, _BT[1:]]))],
    "SparseTensorDenseAdd": [case(_AT, f32(3), _SIZES, f32(3, 3))],
    "SparseReduceSum": [
        case(_AT, f32(3), _SIZES, ints(1)),
        case(_AT, f32(3), _SIZES, ints(0, -1), keep_dims=True),
        case(_AT, f32(3), _SIZES, ints()),
    ],
    "SparseReduceMax": [
        case(_AT, f32(3), _SIZES, 0),
        case(_AT, f32(3), _SIZES, ints(1), keep_dims=True),
    ],
    "SparseDenseCwiseAdd": [
        case(_AT, f32(3), _SIZES, dense).without("gradient", why="TF has none")
        for dense in (f32(3, 3), f32(3))
    ],
    "SparseDenseCwiseMul": [case(_AT, f32(3), _SIZES, dense) for dense in (f32(3, 3), f32(3, 1))],
    "SparseDenseCwiseDiv": [
        case(_AT, f32(3), _SIZES, f32(3, 3, low=1.0)),
        case(_AT, f32(3), _SIZES, f32(1, 3, low=1.0)),
    ],
    "SparseSoftmax": [case(_AT, f32(3), _SIZES)],
    "DenseToDenseSetOperation": [
        case(_DENSE, _DENSE[::-1].copy(), set_operation=how)
        for how in ("a-b", "b-a", "intersection", "union")
    ],
    "DenseToSparseSetOperation": [
        case(_DENSE, _AT, np.array([2, 3, 4]), _SIZES, set_operation="union"),
    ],
    "SparseToSparseSetOperation": [
        case(_AT, ints(1, 2, 3), _SIZES, _BT, ints(1, 4), _SIZES, set_operation=how)
        for how in ("a-b", "intersection")
    ],
    "SetSize": [case(_AT, ints(1, 2, 2), _SIZES)],
}
for _name in CASES:
    if "Set" in _name:
        CASES[_name] = [c.without("full shape", why=_VALUES) for c in CASES[_name]]

EXEMPT = dict.fromkeys(
    ["AddSparseToTensorsMap", "AddManySparseToTensorsMap", "TakeManySparseFromTensorsMap"],
    "keep and take: tests/ops/test_sparse_maps.py",
)
