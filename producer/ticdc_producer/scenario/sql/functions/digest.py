"""Encodings and checksums.

Rules: tidb ``pkg/expression/builtin_string.go``, ``builtin_encryption.go``.
"""

from __future__ import annotations

import binascii
import hashlib
import zlib
from base64 import b64decode, b64encode

from ticdc_producer.model.values.coerce_text import to_bytes, to_text
from ticdc_producer.model.values.sql_value import Bits, DateTimeValue, Duration, SQLValue, Unsigned
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import MAX_PACKET, to_integer, value_function

_BASE64_LINE = 76
_SHA2 = {0: "sha256", 224: "sha224", 256: "sha256", 384: "sha384", 512: "sha512"}


def _hex(value: SQLValue) -> SQLValue:
    """Return ``HEX``: the bytes of a string, or a number in two's complement."""
    if isinstance(value, Bits):
        return f"{value.number:X}"
    if isinstance(value, str | bytes | DateTimeValue | Duration):
        return to_bytes(value).hex().upper()
    number = int(value) if isinstance(value, Unsigned) else to_integer(value)
    return f"{number & 0xFFFFFFFFFFFFFFFF:X}"


def _unhex(value: SQLValue) -> SQLValue:
    digits = to_text(value)
    try:
        return binascii.unhexlify(digits.zfill(len(digits) + len(digits) % 2).encode("ascii"))
    except (ValueError, UnicodeEncodeError):
        return None


def _to_base64(value: SQLValue) -> SQLValue:
    text = b64encode(to_bytes(value)).decode("ascii")
    return "\n".join(text[start : start + _BASE64_LINE] for start in range(0, len(text), _BASE64_LINE))


def _from_base64(value: SQLValue) -> SQLValue:
    text = "".join(character for character in to_text(value) if character not in " \t\r\n")
    try:
        return b64decode(text.encode("ascii"), validate=True)
    except (ValueError, UnicodeEncodeError):
        return None


def _md5(value: SQLValue) -> SQLValue:
    return hashlib.md5(to_bytes(value), usedforsecurity=False).hexdigest()


def _sha1(value: SQLValue) -> SQLValue:
    return hashlib.sha1(to_bytes(value), usedforsecurity=False).hexdigest()


def _sha2(value: SQLValue, bits: SQLValue) -> SQLValue:
    name = _SHA2.get(to_integer(bits))
    return None if name is None else hashlib.new(name, to_bytes(value)).hexdigest()


def _sm3(value: SQLValue) -> SQLValue:
    return hashlib.new("sm3", to_bytes(value)).hexdigest()


def _password(value: SQLValue) -> SQLValue:
    data = to_bytes(value)
    once = hashlib.sha1(data, usedforsecurity=False).digest()
    return "*" + hashlib.sha1(once, usedforsecurity=False).hexdigest().upper() if data else ""


def _uncompress(value: SQLValue) -> SQLValue:
    """Return the bytes that COMPRESS packed after their length; NULL for others and for more bytes."""
    data, unpacker = to_bytes(value), zlib.decompressobj()
    if not data:
        return b""
    limit = min(int.from_bytes(data[:4], "little"), MAX_PACKET)
    try:
        unpacked = unpacker.decompress(data[4:], limit + 1)
    except zlib.error:
        return None
    return unpacked if unpacker.eof and len(unpacked) <= limit else None


def _uncompressed_length(value: SQLValue) -> SQLValue:
    data = to_bytes(value)
    return int.from_bytes(data[:4], "little") if len(data) > 4 else 0


def _crc32(value: SQLValue) -> SQLValue:
    return Unsigned(zlib.crc32(to_bytes(value)))


FUNCTIONS = {
    "CRC32": value_function(_crc32, 1, type=E.UNSIGNED),
    "FROM_BASE64": value_function(_from_base64, 1, type=E.BYTES),
    "HEX": value_function(_hex, 1, takes_bytes=True, type=E.TEXT),
    "MD5": value_function(_md5, 1, takes_bytes=True, type=E.TEXT),
    "PASSWORD": value_function(_password, 1, takes_bytes=True, type=E.TEXT),
    "SHA": value_function(_sha1, 1, takes_bytes=True, type=E.TEXT),
    "SHA1": value_function(_sha1, 1, takes_bytes=True, type=E.TEXT),
    "SHA2": value_function(_sha2, 2, integers=(1,), takes_bytes=True, type=E.TEXT),
    "SM3": value_function(_sm3, 1, takes_bytes=True, type=E.TEXT),
    "TO_BASE64": value_function(_to_base64, 1, takes_bytes=True, type=E.TEXT),
    "UNCOMPRESS": value_function(_uncompress, 1, type=E.BYTES),
    "UNCOMPRESSED_LENGTH": value_function(_uncompressed_length, 1, type=E.INTEGER),
    "UNHEX": value_function(_unhex, 1, type=E.BYTES),
}
