"""Programs for elementwise ops, reductions, products and segments."""

from gradients.graphs.core import CASES, case, floats

UNARY = dict.fromkeys(
    "Neg Abs Reciprocal Square Sqrt Rsqrt Exp Expm1 Log Log1p Sin Cos Tan Asin Acos Atan Sinh Cosh "
    "Tanh Asinh Acosh Atanh Sigmoid Erf Erfc Lgamma Digamma BesselI0e BesselI1e Sign".split(),
    "x",
)
UNARY.update(dict.fromkeys("Relu Relu6 Elu Selu LeakyRelu Softplus Softsign".split(), "features"))
UNARY.update(dict.fromkeys(("Softmax", "LogSoftmax"), "logits"))
TWICE = set(
    "Reciprocal Square Sqrt Rsqrt Exp Tanh Sigmoid Relu Relu6 Elu Selu LeakyRelu Softplus".split()
)
BINARY = (
    "Add AddV2 Sub Mul MulNoNan Div RealDiv DivNoNan FloorMod Pow Maximum Minimum "
    "SquaredDifference Atan2 Xlogy Xdivy Igamma Igammac Zeta Polygamma NextAfter FloorDiv".split()
)
OTHER_NAMES = {
    "Atan2": ("y", "x"),
    "Igamma": ("a", "x"),
    "Igammac": ("a", "x"),
    "Zeta": ("x", "q"),
    "Polygamma": ("a", "x"),
    "NextAfter": ("x1", "x2"),
}


def unary(op_type):
    def build(tf):
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = getattr(tf.raw_ops, op_type)(**{UNARY[op_type]: x})
        (dx,) = tf.gradients(y, x)
        if op_type in TWICE:
            tf.gradients(dx, x, name="second")

    return build


def binary(op_type, *shapes):
    def build(tf):
        x, y = (tf.placeholder(tf.float32, s, name=n) for n, s in zip("xy", shapes))
        names = OTHER_NAMES.get(op_type, ("x", "y"))
        z = getattr(tf.raw_ops, op_type)(**dict(zip(names, (x, y))))
        tf.gradients(z, [x, y])

    return build


for _name in UNARY:
    CASES["unary_" + _name] = unary(_name)
for _name in BINARY:
    CASES["same_" + _name] = binary(_name, [2, 3], [2, 3])
    CASES["wide_" + _name] = binary(_name, [2, 3], [1, 3])
    CASES["unknown_" + _name] = binary(_name, [None, 3], [3])


# ---- choices, casts and complex numbers


@case
def choices(tf):
    x, y = floats(tf, [2], [2])
    c = x > y
    tf.gradients(tf.where(c, x, y), [x, y])
    tf.gradients(tf.where_v2(c, x, y[0]), [x, y])


@case
def casts(tf):
    (x,) = floats(tf, [2])
    tf.gradients(tf.cast(tf.cast(x, tf.float64), tf.float16), x)
    tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x)


@case
def complex_numbers(tf):
    x, y = floats(tf, [2], [2])
    z = tf.complex(x, y)
    w = tf.conj(z) * tf.exp(z) / z
    tf.gradients([tf.real(w), tf.imag(w), tf.abs(w), tf.angle(w)], [x, y])


@case
def clipped(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.clip_by_value(x, -1.0, 1.0), x)
    tf.gradients(tf.clip_by_norm(x, 1.0), x)
    tf.gradients(tf.add_n([x, x, x]), x)


@case
def betainc(tf):
    a, b, x = floats(tf, [2], [2], [2])
    tf.gradients(tf.betainc(a, b, x), [a, b, x])


# ---- reductions


def reduction(name, shape, **kwargs):
    def build(tf):
        (x,) = floats(tf, shape)
        tf.gradients(getattr(tf, "reduce_" + name)(x, **kwargs), x)

    return build


for _name in "sum mean max min prod".split():
    CASES["all_" + _name] = reduction(_name, [2, 3])
    CASES["axis_" + _name] = reduction(_name, [2, 3], axis=1)
    CASES["kept_" + _name] = reduction(_name, [None, 3], axis=[0], keepdims=True)
    CASES["unranked_" + _name] = reduction(_name, None)
CASES["logsumexp"] = reduction("logsumexp", [2, 3], axis=1)


@case
def repeated_shapes(tf):
    x, y = floats(tf, [2, 3], [3])
    tf.gradients(tf.reduce_sum(x + y, 0) + tf.reduce_sum(x * y, 0), [x, y])


@case
def cumulative(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.cumsum(x, 1, exclusive=True), x)
    tf.gradients(tf.cumprod(x, reverse=True), x)


@case
def searched(tf):
    (x,) = floats(tf, [2, 3])
    tf.gradients(tf.nn.top_k(x, 2).values, x)
    tf.gradients(tf.raw_ops.NthElement(input=x, n=1), x)


# ---- products


@case
def products(tf):
    a, b = floats(tf, [2, 2], [2, 2])
    for flip_a in (False, True):
        for flip_b in (False, True):
            c = tf.matmul(a, b, transpose_a=flip_a, transpose_b=flip_b)
            tf.gradients(c, [a, b])


@case
def batch_products(tf):
    a, b, c = floats(tf, [5, 2, 2], [5, 2, 2], [2, 2])
    for flip_a in (False, True):
        for flip_b in (False, True):
            tf.gradients(tf.matmul(a, b, adjoint_a=flip_a, adjoint_b=flip_b), [a, b])
    tf.gradients(tf.raw_ops.BatchMatMulV2(x=a, y=c), [a, c])
    tf.gradients(tf.raw_ops.BatchMatMul(x=a, y=b), [a, b])


@case
def tensor_products(tf):
    a, b = floats(tf, [2, 3, 4], [4, 3])
    tf.gradients(tf.tensordot(a, b, [[2, 1], [0, 1]]), [a, b])
    u, v = floats(tf, [2, 3], [2, 3])
    tf.gradients(tf.cross(u, v), [u, v])


@case
def transforms(tf):
    (z,) = floats(tf, [2, 4])
    z = tf.complex(z, z)
    for name in ("fft", "ifft", "fft2d", "ifft2d", "irfft", "irfft2d"):
        y = getattr(tf.spectral, name)(z)
        tf.gradients(tf.abs(y), z)
    (x,) = floats(tf, [2, 5])
    tf.gradients(tf.abs(tf.spectral.rfft(x)), x)
    tf.gradients(tf.abs(tf.spectral.rfft2d(x)), x)


# ---- segments


@case
def segments(tf):
    (x,) = floats(tf, [4, 2])
    ids = tf.constant([0, 0, 1, 2])
    for name in "sum mean min max".split():
        tf.gradients(getattr(tf, "segment_" + name)(x, ids), x)


@case
def unsorted_segments(tf):
    (x,) = floats(tf, [4, 2])
    ids = tf.constant([0, 2, -1, 0])
    for name in "sum mean min max prod sqrt_n".split():
        tf.gradients(getattr(tf, "unsorted_segment_" + name)(x, ids, 3), x)


@case
def sparse_segments(tf):
    (x,) = floats(tf, [4, 2])
    for name in "sum mean sqrt_n".split():
        fn = getattr(tf, "sparse_segment_" + name)
        tf.gradients(fn(x, [0, 2, 3], [0, 0, 1]), x)
        tf.gradients(fn(x, [0, 2, 3], [0, 0, 1], num_segments=3), x)
