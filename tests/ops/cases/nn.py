"""Cases of ops/nn.py and ops/normalization.py."""

from ops.cases import c64, case, f32, i32, ints, only_f32

_MIXED = f32(3, 4)
_BACKPROP = "its second output, the loss's own gradient, has none by labels"

CASES = {
    "Relu": [case(_MIXED), case(i32(2, 3))],
    "ReluGrad": [case(_MIXED, _MIXED)],
    "Relu6": [case(f32(3, 4, low=-1.0, high=8.0))],
    "Relu6Grad": [case(_MIXED, f32(3, 4, low=-1.0, high=8.0))],
    "Elu": [case(_MIXED)],
    "EluGrad": [case(_MIXED, f32(3, 4, low=-0.9, high=2.0))],
    "Selu": [case(_MIXED)],
    "SeluGrad": [case(_MIXED, f32(3, 4, low=-1.7, high=2.0))],
    "LeakyRelu": [case(_MIXED), case(_MIXED, alpha=0.5)],
    "LeakyReluGrad": [case(_MIXED, _MIXED, alpha=0.5)],
    "Softplus": [case(_MIXED)],
    "SoftplusGrad": [case(_MIXED, _MIXED)],
    "Softsign": [case(_MIXED)],
    "SoftsignGrad": [
        case(_MIXED, _MIXED).without("gradient", why="TF has no gradient of SoftsignGrad")
    ],
    "Softmax": [case(f32(2, 3)), case(f32(2, 3, 4)), case(f32(5))],
    "LogSoftmax": [case(f32(2, 3)), case(f32(2, 3, 4))],
    "SoftmaxCrossEntropyWithLogits": [
        case(f32(3, 4), f32(3, 4, low=0.1, high=1.0)).without("gradient", why=_BACKPROP),
        case(f32(3, 4), f32(1, 4, low=0.1, high=1.0)).without("gradient", why=_BACKPROP),
    ],
    "SparseSoftmaxCrossEntropyWithLogits": [
        case(f32(3, 4), ints(3, 0, 2)).without("gradient", why=_BACKPROP),
        case(f32(3, 4), ints(3, 0, 2, dtype="int64")).without("gradient", why=_BACKPROP),
    ],
    "L2Loss": [case(f32(2, 3)), case(f32())],
    "BiasAdd": [
        case(f32(2, 3), f32(3)),
        case(f32(2, 2, 3, 4), f32(4)),
        case(f32(2, 3, 2, 2), f32(3), data_format="NCHW"),
        case(c64(2, 3), c64(3)),
    ],
    "BiasAddV1": [case(f32(2, 3), f32(3))],
    "BiasAddGrad": [
        case(f32(2, 3)),
        case(f32(2, 2, 3, 4)),
        case(f32(2, 3, 2, 2), data_format="NCHW"),
    ],
    "LRN": [case(only_f32(1, 2, 2, 6), depth_radius=2, bias=1.5, alpha=0.7, beta=0.6)],
    "LRNGrad": [
        case(
            only_f32(1, 1, 2, 6), only_f32(1, 1, 2, 6), only_f32(1, 1, 2, 6), depth_radius=2
        ).without("gradient", why="TF has no gradient of LRNGrad")
    ],
}

_PER_CHANNEL = [only_f32(3, low=1.0, high=2.0), only_f32(3)]
_GIVEN = [only_f32(3), only_f32(3, low=0.5, high=2.0)]
_NONE = [only_f32(0), only_f32(0)]
_STATISTICS = "the statistics of a trained batch pass no gradient on"
_SECOND = "its spare outputs have another shape in TF than TF says; see test_nn_values.py"


def _batch_norm(version: str) -> list:
    x = only_f32(2, 2, 3, 3)
    made = [
        case(x, *_PER_CHANNEL, *_NONE).without("gradient", why=_STATISTICS),
        case(only_f32(2, 3, 2, 3), *_PER_CHANNEL, *_NONE, data_format="NCHW").without(
            "gradient", "recorded", why=f"{_STATISTICS}; TF has NCHW on GPUs only"
        ),
        case(x, *_PER_CHANNEL, *_GIVEN, is_training=False).without(
            "gradient", "recorded", why="1.15 leaves the statistics' outputs unset"
        ),
    ]
    if version != "V3":
        return made
    return [c.without("full shape", why="TF does not tell the spare output's") for c in made]


def _batch_norm_grad(*spare: object) -> list:
    x = only_f32(2, 2, 3, 3)
    return [
        case(x, x, _PER_CHANNEL[0], *_GIVEN, *spare).without("gradient", "recorded", why=_SECOND),
        case(x, x, _PER_CHANNEL[0], *_GIVEN, *spare, is_training=False).without(
            "gradient", "recorded", why=_SECOND
        ),
    ]


for _version in ("", "V2", "V3"):
    CASES["FusedBatchNorm" + _version] = _batch_norm(_version)
for _version in ("", "V2"):
    CASES["FusedBatchNormGrad" + _version] = _batch_norm_grad()
CASES["FusedBatchNormGradV3"] = _batch_norm_grad(only_f32(0))
