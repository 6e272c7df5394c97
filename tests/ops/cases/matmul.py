"""Cases of ops/matmul.py."""

from ops.cases import c64, case, f32, only_f32

CASES = {
    "MatMul": [
        case(f32(2, 3), f32(3, 4)),
        case(f32(3, 2), f32(3, 4), transpose_a=True),
        case(f32(2, 3), f32(4, 3), transpose_b=True),
        case(f32(3, 2), f32(4, 3), transpose_a=True, transpose_b=True),
        case(f32(2, 0), f32(0, 3)),
        case(c64(2, 3), c64(3, 2)),
    ],
    "SparseMatMul": [
        case(only_f32(2, 3), only_f32(3, 4)),
        case(only_f32(3, 2), only_f32(4, 3), transpose_a=True, transpose_b=True),
    ],
    "BatchMatMul": [
        case(f32(5, 2, 3), f32(5, 3, 4)),
        case(f32(2, 3), f32(3, 2)),
        case(f32(5, 3, 2), f32(5, 4, 3), adj_x=True, adj_y=True),
        case(c64(2, 3, 2), c64(2, 3, 2), adj_x=True),
    ],
    "BatchMatMulV2": [
        case(f32(5, 2, 3), f32(5, 3, 4)),
        case(f32(5, 2, 3), f32(3, 4)),
        case(f32(2, 1, 2, 3), f32(4, 3, 2)),
        case(f32(5, 3, 2), f32(1, 4, 3), adj_x=True, adj_y=True),
        case(c64(2, 3), c64(5, 2, 3), adj_y=True),
    ],
    "Cross": [case(f32(3), f32(3)), case(f32(2, 4, 3), f32(2, 4, 3))],
}
