"""tf.strings."""

from minitf.ops.strings import (
    as_string,
    format,
    length,
    lower,
    reduce_join,
    regex_full_match,
    regex_replace,
    split,
    substr,
    upper,
)
from minitf.ops.strings import string_join as join
from minitf.ops.strings import string_strip as strip
from minitf.ops.strings import string_to_hash_bucket as to_hash_bucket
from minitf.ops.strings import string_to_hash_bucket_fast as to_hash_bucket_fast
from minitf.ops.strings import string_to_hash_bucket_strong as to_hash_bucket_strong
from minitf.ops.strings import string_to_number as to_number

__all__ = [
    "as_string",
    "format",
    "join",
    "length",
    "lower",
    "reduce_join",
    "regex_full_match",
    "regex_replace",
    "split",
    "strip",
    "substr",
    "to_hash_bucket",
    "to_hash_bucket_fast",
    "to_hash_bucket_strong",
    "to_number",
    "upper",
]
