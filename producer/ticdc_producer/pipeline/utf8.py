"""Repairs text that is not UTF-8, as ``model.utf8`` does, but in the JVM."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_VALID = (
    r"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}"
    r"|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}"
    r"|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
"""One UTF-8 character, each of its bytes written as one Latin-1 character (Unicode, table 3-7)."""
_UP_TO_A_BAD_BYTE = rf"(?s)\G((?:{_VALID})*+)(.)"
_LATIN_1 = "ISO-8859-1"
_REPLACEMENT = "\ufffd".encode().decode(_LATIN_1)


def utf8_repaired(value: Column) -> Column:
    """Replace each byte that is not part of valid UTF-8 by U+FFFD."""
    marked = F.regexp_replace(F.decode(value, _LATIN_1), _UP_TO_A_BAD_BYTE, f"$1{_REPLACEMENT}")
    return F.when(F.is_valid_utf8(value.cast("string")), value).otherwise(F.encode(marked, _LATIN_1))
