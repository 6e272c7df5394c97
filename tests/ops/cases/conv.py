"""Cases of ops/conv.py."""

from ops.cases import case, f32, ints

_CONV = "NCHW, dilations and groups run only on GPUs in TF"
_ON_GPU = ("recorded",)

CASES = {
    "Conv2D": [
        case(f32(2, 5, 4, 3), f32(3, 2, 3, 4), strides=[1, 1, 1, 1], padding="SAME"),
        case(f32(2, 5, 4, 3), f32(3, 2, 3, 4), strides=[1, 2, 3, 1], padding="SAME"),
        case(f32(2, 5, 4, 3), f32(3, 2, 3, 4), strides=[1, 2, 1, 1], padding="VALID"),
        case(f32(2, 5, 4, 3), f32(1, 1, 3, 2), strides=[1, 1, 1, 1], padding="VALID"),
        case(
            f32(1, 5, 4, 2), f32(3, 2, 2, 3), strides=[1, 2, 2, 1], padding="EXPLICIT",
            explicit_paddings=[0, 0, 1, 2, 0, 3, 0, 0],
        ),
        case(
            f32(2, 3, 5, 4), f32(3, 2, 3, 2), strides=[1, 1, 2, 1], padding="SAME",
            data_format="NCHW",
        ).without(*_ON_GPU, why=_CONV),
        case(
            f32(1, 6, 5, 2), f32(2, 2, 2, 3), strides=[1, 1, 1, 1], padding="SAME",
            dilations=[1, 2, 3, 1],
        ).without(*_ON_GPU, why=_CONV),
    ],
    "Conv2DBackpropInput": [
        case(
            ints(2, 5, 4, 3), f32(3, 2, 3, 4), f32(2, 3, 2, 4), strides=[1, 2, 2, 1],
            padding="SAME",
        ),
        case(
            ints(1, 5, 4, 3), f32(3, 2, 3, 2), f32(1, 3, 3, 2), strides=[1, 1, 1, 1],
            padding="VALID",
        ),
    ],
    "Conv2DBackpropFilter": [
        case(
            f32(2, 5, 4, 3), ints(3, 2, 3, 4), f32(2, 3, 2, 4), strides=[1, 2, 2, 1],
            padding="SAME",
        ),
        case(
            f32(1, 5, 4, 3), ints(3, 2, 3, 2), f32(1, 3, 3, 2), strides=[1, 1, 1, 1],
            padding="VALID",
        ),
    ],
    "DepthwiseConv2dNative": [
        case(f32(2, 4, 3, 2), f32(3, 2, 2, 3), strides=[1, 1, 1, 1], padding="SAME"),
        case(f32(1, 5, 5, 2), f32(2, 2, 2, 1), strides=[1, 2, 2, 1], padding="VALID"),
    ],
    "DepthwiseConv2dNativeBackpropInput": [
        case(
            ints(1, 4, 3, 2), f32(3, 2, 2, 3), f32(1, 4, 3, 6), strides=[1, 1, 1, 1],
            padding="SAME",
        )
    ],
    "DepthwiseConv2dNativeBackpropFilter": [
        case(
            f32(1, 4, 3, 2), ints(3, 2, 2, 3), f32(1, 4, 3, 6), strides=[1, 1, 1, 1],
            padding="SAME",
        )
    ],
    "Conv3D": [
        case(f32(1, 3, 4, 3, 2), f32(2, 3, 2, 2, 3), strides=[1, 1, 2, 1, 1], padding="SAME"),
        case(f32(1, 3, 4, 3, 2), f32(2, 3, 2, 2, 1), strides=[1, 1, 1, 1, 1], padding="VALID"),
    ],
    "Conv3DBackpropInputV2": [
        case(
            ints(1, 3, 4, 3, 2), f32(2, 3, 2, 2, 1), f32(1, 2, 2, 2, 1),
            strides=[1, 1, 1, 1, 1], padding="VALID",
        )
    ],
    "Conv3DBackpropFilterV2": [
        case(
            f32(1, 3, 4, 3, 2), ints(2, 3, 2, 2, 1), f32(1, 2, 2, 2, 1),
            strides=[1, 1, 1, 1, 1], padding="VALID",
        )
    ],
}  # fmt: skip
