"""Cases of ops/pooling.py."""

import numpy as np

from ops.cases import case, f32, ints, only_f32

_TWO = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1])
_WINDOW = ints(1, 2, 2, 1), ints(1, 2, 2, 1)
_CUBE = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1])

_IMAGE = (np.arange(2 * 4 * 5 * 2) * 37 % 80 / 20 - 2).reshape(2, 4, 5, 2).astype("f")
_POOLED = _IMAGE[:, :, :4].reshape(2, 2, 2, 2, 2, 2).max(axis=(2, 4))
_VOLUME = (np.arange(64) * 37 % 64 / 16 - 2).reshape(1, 4, 4, 4, 1).astype("f")
_POOLED_VOLUME = _VOLUME.reshape(1, 2, 2, 2, 2, 2, 2, 1).max(axis=(2, 4, 6))
_PLACES = np.arange(8, dtype="int64").reshape(2, 2, 2, 1)

CASES = {
    "MaxPool": [
        case(f32(2, 5, 4, 3), **_TWO, padding="SAME"),
        case(f32(2, 5, 4, 3), ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="VALID"),
        case(f32(1, 3, 3, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID").without(
            "gradient", why="TF has no gradient of pooling over channels"
        ),
    ],
    "AvgPool": [
        case(f32(2, 5, 4, 3), **_TWO, padding="SAME"),
        case(f32(2, 5, 4, 3), ksize=[1, 3, 2, 1], strides=[1, 1, 2, 1], padding="VALID"),
    ],
    "MaxPool3D": [case(_VOLUME, **_CUBE, padding="SAME")],
    "AvgPool3D": [case(f32(1, 4, 3, 4, 2), **_CUBE, padding="SAME")],
    "MaxPoolGrad": [case(_IMAGE, _POOLED, only_f32(2, 2, 2, 2), **_TWO, padding="VALID")],
    "MaxPoolGradGrad": [case(_IMAGE, _POOLED, only_f32(2, 4, 5, 2), **_TWO, padding="VALID")],
    "MaxPool3DGrad": [
        case(_VOLUME, _POOLED_VOLUME, only_f32(1, 2, 2, 2, 1), **_CUBE, padding="VALID")
    ],
    "MaxPool3DGradGrad": [
        case(_VOLUME, _POOLED_VOLUME, only_f32(1, 4, 4, 4, 1), **_CUBE, padding="VALID")
    ],
    "AvgPoolGrad": [case(ints(2, 5, 4, 3), f32(2, 3, 2, 3), **_TWO, padding="SAME")],
    "AvgPool3DGrad": [case(ints(1, 4, 3, 4, 2), f32(1, 2, 2, 2, 2), **_CUBE, padding="SAME")],
    "MaxPoolV2": [case(_IMAGE, *_WINDOW, padding="SAME")],
    "MaxPoolGradV2": [case(_IMAGE, _POOLED, only_f32(2, 2, 2, 2), *_WINDOW, padding="VALID")],
    "MaxPoolGradGradV2": [case(_IMAGE, _POOLED, only_f32(2, 4, 5, 2), *_WINDOW, padding="VALID")],
    "MaxPoolWithArgmax": [
        case(_IMAGE, **_TWO, padding="SAME"),
        case(_IMAGE, **_TWO, padding="VALID", include_batch_in_index=True),
    ],
    "MaxPoolGradWithArgmax": [
        case(f32(2, 4, 4, 1), f32(2, 2, 2, 1), _PLACES, **_TWO, padding="SAME").without(
            "gradient", why="TF 1.15 has no gradient of MaxPoolGradWithArgmax"
        ),
    ],
}
