"""Cases of ops/core.py."""

from ops.cases import bools, case, f32, i32

_PLAN = "the plan makes it itself; every session test runs it"

CASES = {
    "Identity": [case(f32(2, 3)), case(i32()), case(b"a")],
    "IdentityN": [case([f32(2, 3), i32(2), bools()]), case([f32()])],
    "PlaceholderWithDefault": [
        case(f32(2, 3), shape=[None, 3]).without("full shape", why="another may be fed"),
        case(f32(2), shape=[2]).without("unknown shape", why="its shape is declared"),
    ],
}
EXEMPT = {
    "Const": _PLAN,
    "Placeholder": "has no value of its own: fed in every session test",
    "NoOp": _PLAN,
    "ControlTrigger": _PLAN,
}
