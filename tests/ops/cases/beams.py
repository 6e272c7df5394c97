"""Cases of ops/beams.py."""

import numpy as np

from ops.cases import case, ints

_IDS = np.arange(24, dtype=np.int32).reshape(4, 2, 3)
_PARENTS = np.array([[0, 0, 0] * 2, [1, 0, 2] * 2, [2, 2, 0] * 2, [1, 2, 0] * 2], np.int32)

CASES = {
    "GatherTree": [
        case(_IDS, _PARENTS.reshape(4, 2, 3), ints(4, 3), 5),
        case(_IDS % 7, _PARENTS.reshape(4, 2, 3), ints(0, 9), 5),
        case(_IDS[:0], _IDS[:0], ints(2, 2), 5),
    ],
}
