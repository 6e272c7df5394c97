"""Cases of ops/clustering.py."""

import numpy as np

from ops.cases import case, only_f32

_K = [np.int64(k) for k in (0, 2, 9)]
_CASES = [case(only_f32(5, 3), only_f32(4, 3), k) for k in _K]
CASES = {
    "NearestNeighbors": [c.without("full shape", why="TensorFlow tells no shape") for c in _CASES]
}
