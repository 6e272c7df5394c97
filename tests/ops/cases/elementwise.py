"""Cases of ops/elementwise.py."""

from ops.cases import c64, case, f32, i32, ints, only_f32, strings

_KINK = "jumps or has a kink where the values are"
_POSITIVE = dict(low=0.2, high=3.0)
_INSIDE = dict(low=-0.9, high=0.9)


def _unary(names, **limits):
    return {
        n: [case(f32(2, 3, **limits)), case(f32(**limits)), case(c64(3))] for n in names.split()
    }


def _not_complex_in_tf(names, **limits):
    only_here = case(c64(3)).without("recorded", why="TF has no kernel for complex numbers")
    return {n: [*cases[:2], only_here] for n, cases in _unary(names, **limits).items()}


def _real(names, **limits):
    return {n: [case(f32(2, 3, **limits)), case(f32(0, 2))] for n in names.split()}


def _binary(names, **limits):
    """Equal shapes, broadcasting either way, a scalar, nothing."""
    shapes = [((2, 3), (2, 3)), ((2, 1), (4,)), ((3,), (2, 3)), ((), (2,)), ((0, 2), (2,))]
    return {
        n: [case(f32(*a, **limits), f32(*b, **limits)) for a, b in shapes] for n in names.split()
    }


def _grads(names):
    return {n: [case(f32(2, 3, low=0.2), f32(2, 3)), case(c64(3), c64(3))] for n in names.split()}


_WHOLE = case(i32(2, 4, low=-9, high=10), ints(3, -2, 4, -7))
_HALVES = case(ints(-5, -3, -1, 1, 3, 5, dtype="float32") / 2)

CASES = {
    **_unary("Neg Sign Square Exp Expm1 Sin Cos Sinh Cosh Tanh Asinh Sigmoid"),
    **_unary("Sqrt Rsqrt Log Log1p Reciprocal Inv", **_POSITIVE),
    **_unary("Tan Atanh", **_INSIDE),
    **_not_complex_in_tf("Asin Acos Atan", **_INSIDE),
    **_unary("Acosh", low=1.5, high=3.0),
    **_real("Abs Floor Ceil"),
    "Rint": [case(f32(2, 3)), _HALVES],
    "Round": [case(f32(2, 3)), _HALVES, case(i32(3))],
    **_binary("Add AddV2 Sub Mul SquaredDifference Maximum Minimum"),
    **_binary("Div RealDiv DivNoNan Xdivy Xlogy Pow", **_POSITIVE),
    **_binary("NextAfter MulNoNan"),
    "Atan2": [
        case(f32(2, 3), f32(2, 3)),
        case(f32(), f32()),
        case(f32(2, 1), f32(3)).without("gradient", why="TF's gradient does not broadcast"),
    ],
    **{
        n: [case(f32(2, 3), f32(3, low=0.7, high=0.9)).without("gradient", why=_KINK), _WHOLE]
        for n in ("FloorDiv", "FloorMod")
    },
    **{n: [_WHOLE, case(f32(2, 3), f32(3, low=0.7))] for n in ("Mod", "TruncateMod")},
    "TruncateDiv": [_WHOLE, case(ints(7, -7, 9, dtype="int64"), ints(2, 2, -4, dtype="int64"))],
    "PopulationCount": [case(i32(2, 3, low=-900, high=900))],
    "Invert": [case(i32(2, 3))],
    **{n: [case(i32(2, 3), i32(3)), case(i32(), i32(2))] for n in ("BitwiseAnd", "BitwiseOr")},
    "BitwiseXor": [case(i32(2, 3), i32(3))],
    "LeftShift": [case(i32(2, 3), ints(0, 3, 40)), case(i32(2), -1)],
    "RightShift": [case(i32(2, 3, low=-99), ints(0, 3, 40)), case(i32(2), -1)],
    **_grads("SqrtGrad RsqrtGrad ReciprocalGrad InvGrad SigmoidGrad TanhGrad"),
    "Cast": [case(f32(2, 3), DstT=t) for t in ("float64", "int32", "bool", "int64")]
    + [
        case(f32(2, 3), DstT="float16").without("gradient", why="halves are too coarse"),
        case(f32(2, 3), DstT="complex64").without("gradient", why="it is too coarse"),
        case(f32(2, 3), DstT="complex128"),
    ]
    + [case(i32(3, low=0), DstT=t) for t in ("uint8", "float32", "bool")],
    "Complex": [case(only_f32(2, 3), only_f32(3)), case(only_f32(), only_f32(2))],
    "ComplexAbs": [case(c64(2, 3), T="complex64", Tout="float32")],
    "Real": [case(c64(2, 3)), case(c64())],
    "Imag": [case(c64(2, 3)), case(c64())],
    "Angle": [case(c64(2, 3))],
    "Conj": [case(c64(2, 3)), case(c64())],
}
CASES["Add"].append(case(strings(b"a", b"bc"), strings(b"d", b"")))
CASES["DivNoNan"].append(
    case(f32(3), ints(0, 2, 0, dtype="float32")).without("gradient", why=_KINK)
)
CASES["MulNoNan"].append(
    case(f32(3), ints(0, 2, 0, dtype="float32")).without("gradient", why=_KINK)
)
CASES["Pow"].append(case(i32(3), ints(0, 1, 3)))
CASES["Div"].append(_WHOLE)
