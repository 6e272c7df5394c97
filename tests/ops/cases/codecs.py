"""Cases of the ops that read and write pictures: ops/image_codecs.py."""

import struct

import numpy as np

from ops.cases import case

_PIXELS = np.arange(24, dtype="uint8").reshape(2, 4, 3) * 9
_BMP = b"BM" + struct.pack("<IIIIiiHH", 0, 0, 54, 40, 4, -2, 1, 24) + bytes(24) + _PIXELS.tobytes()
_ELSEWHERE = "needs an extra, and its bytes are those of a library: tests/image/test_codecs.py"

CASES = {
    "DecodeBmp": [case(_BMP), case(_BMP, channels=3)],
    "EncodePng": [
        case(_PIXELS).without("recorded", why="other filters"),
        case(_PIXELS.astype("uint16"), compression=1).without("recorded", why="other filters"),
    ],
}
CASES["DecodeBmp"] = [c.without("full shape", why="in the file") for c in CASES["DecodeBmp"]]
EXEMPT = dict.fromkeys(
    "DecodeAndCropJpeg DecodeGif DecodeJpeg DecodePng EncodeJpeg EncodeJpegVariableQuality "
    "ExtractJpegShape".split(),
    _ELSEWHERE,
)
