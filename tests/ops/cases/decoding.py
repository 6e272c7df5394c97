"""Cases of the ops that decode strings: ops/decoding.py and the readers."""

import zlib

import numpy as np

from ops.cases import case, ints, only_f32, reals, strings

_ROWS = strings(b'1,2.5,"a,""b"""', b"-3,,x")
_NONE = np.empty(0, "int32")
_VECTOR = b'\x08\x02\x12\x04\x12\x02\x08\x01"\x08\x00\x00\x00\x00\x00\x00\xf0?'

CASES = {
    "DecodeCompressed": [
        case(strings(zlib.compress(b"some text"), zlib.compress(b"")), compression_type="ZLIB"),
        case(b"as it is"),
    ],
    "SerializeTensor": [
        case(only_f32(2, 3)),
        case(strings(b"a", b"bc")),
        case(ints(-7, dtype="int64")),
        case(True),
    ],
    "ParseTensor": [
        case(_VECTOR, out_type="float64"),
        case(b"\x08\x03\x12\x04\x12\x02\x08\x03:\x02\x05\x07", out_type="int32"),
        case(b"\x08\x09\x12\x00\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", out_type="int64"),
        case(b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x02bc", out_type="string"),
        case(b"\x08\x13\x12\x04\x12\x02\x08\x01h\x80x", out_type="float16"),
    ],
    "DecodeCSV": [
        case(_ROWS, [ints(0), reals(1.5), strings(b"-")]),
        case(
            strings(b"a\tNA\t5"), [strings(b"z"), _NONE], field_delim="\t", na_value="NA",
            select_cols=[1, 2],
        ),
    ],
}  # fmt: skip
CASES["ParseTensor"] = [
    c.without("full shape", why="depends on the values") for c in CASES["ParseTensor"]
]

_READERS = """
FixedLengthRecordReader IdentityReader ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted
ReaderRead ReaderReadUpTo ReaderReset ReaderRestoreState ReaderSerializeState TFRecordReader
TextLineReader WholeFileReader
""".split()
EXEMPT = dict.fromkeys(
    [*_READERS, *(kind + "V2" for kind in _READERS), "LMDBReader"],
    "reads files; tests/io/test_readers.py",
)
