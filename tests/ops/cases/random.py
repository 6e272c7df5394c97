"""Cases of ops/random.py: what has a seed in its inputs. The others hold a stream."""

import numpy as np

from ops.cases import case, f32, ints

_STREAM = "draws from a stream of its own: tests/ops/test_random.py"
_SEED = ints(3, 7)
_DRAWN = [case(ints(2, 3), _SEED), case(ints(5, dtype="int64"), ints(3, 7, dtype="int64"))]

CASES = {
    "StatelessRandomUniform": [*_DRAWN, case(ints(4), _SEED, dtype="float64")],
    "StatelessRandomNormal": [*_DRAWN, case(ints(4), _SEED, dtype="float64")],
    "StatelessTruncatedNormal": [*_DRAWN, case(ints(4), _SEED, dtype="float64")],
    "StatelessRandomUniformInt": [
        case(ints(2, 3), _SEED, 0, 10),
        case(ints(4), _SEED, np.int64(-5), np.int64(2**40)),
    ],
    "StatelessMultinomial": [
        case(f32(2, 4), 5, _SEED),
        case(f32(1, 3), 4, _SEED, output_dtype="int32"),
    ],
    "RandomGammaGrad": [
        case(f32(2, 3, low=0.5, high=4.0), f32(2, 3, low=0.5, high=4.0)),
        case(f32(2, 1, low=0.5, high=4.0), f32(3, low=0.5, high=4.0)),
    ],
}
EXEMPT = dict.fromkeys(
    [
        "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt",
        "RandomShuffle", "Multinomial", "RandomGamma", "RandomPoissonV2",
    ],
    _STREAM,
)  # fmt: skip
