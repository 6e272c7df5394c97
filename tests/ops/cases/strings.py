"""Cases of the string ops: ops/strings.py, string_split.py and string_convert.py."""

import numpy as np

from ops.cases import case, i32, ints, only_f32, strings

_WORDS = strings(b"hello", b"W\xc3\xa9\x00")
_TABLE = strings(b"a", b"b", b"c", b"d").reshape(2, 2)

CASES = {
    "StringJoin": [case([_WORDS, _WORDS], separator="-"), case([_WORDS, b"x"]), case([b"a", b"b"])],
    "ReduceJoin": [
        case(_TABLE, ints(0)),
        case(_TABLE, ints(0, 1), separator="."),
        case(_TABLE, -1, keep_dims=True),
        case(_TABLE, ints()),
    ],
    "StringLength": [case(_WORDS), case(_WORDS, unit="UTF8_CHAR")],
    "Substr": [
        case(_WORDS, 1, 2),
        case(_WORDS, ints(-1, 0), ints(1, 9)),
        case(_WORDS, 1, 2, unit="UTF8_CHAR"),
    ],
    "StringStrip": [case(strings(b" a b\n", b"c"))],
    "StringLower": [case(_WORDS), case(strings(b"H\xc3\xa9"), encoding="utf-8")],
    "StringUpper": [case(_WORDS), case(strings(b"H\xc3\xa9"), encoding="utf-8")],
    "RegexReplace": [
        case(_WORDS, b"l", b"LL"),
        case(_WORDS, b"(h)(e)", b"\\2\\1", replace_global=False),
    ],
    "StaticRegexReplace": [case(_WORDS, pattern="l+", rewrite="")],
    "RegexFullMatch": [case(_WORDS, b"h.*o")],
    "StaticRegexFullMatch": [case(_WORDS, pattern="hell")],
    "StringToHashBucket": [case(_WORDS, num_buckets=10)],
    "StringToHashBucketFast": [case(_WORDS, num_buckets=10)],
    "StringToHashBucketStrong": [case(_WORDS, num_buckets=10, key=[1, 2])],
    "StringSplit": [
        case(strings(b"a b", b" c  d"), b" "),
        case(strings(b"a,b"), b",;", skip_empty=False),
    ],
    "StringSplitV2": [
        case(strings(b"a b", b" c  d"), b""),
        case(strings(b"a,,b"), b",", maxsplit=1),
    ],
    "AsString": [case(only_f32(2), precision=2), case(i32(2), width=4, fill="0"), case(True)],
    "StringToNumber": [case(strings(b"1.5", b" -2e3")), case(strings(b"7"), out_type="int64")],
    "DecodeRaw": [
        case(strings(b"\x01\x00\x02\x00"), out_type="int16"),
        case(b"\x01\x00", out_type="int16", little_endian=False),
        case(np.empty(0, object), out_type="uint8"),
    ],
    "EncodeBase64": [case(_WORDS), case(_WORDS, pad=True)],
    "DecodeBase64": [case(strings(b"aGVsbG8", b"YQ=="))],
}
for _name in ("StringSplit", "StringSplitV2", "DecodeRaw"):
    CASES[_name] = [c.without("full shape", why="depends on the values") for c in CASES[_name]]
