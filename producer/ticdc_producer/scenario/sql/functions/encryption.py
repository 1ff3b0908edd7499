"""``AES_ENCRYPT`` and ``AES_DECRYPT``, with the library ``cryptography`` of the extra ``aes``.

Rules: tidb ``pkg/expression/builtin_encryption.go``, ``pkg/util/encrypt/aes.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.installation import install_command
from ticdc_producer.model.values.coerce_text import to_bytes
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.expression.eval_type import E
from ticdc_producer.scenario.sql.functions.function import Function

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, modes

    _Mode: TypeAlias = modes.ECB | modes.ModeWithInitializationVector

BLOCK_MODES = frozenset(
    f"aes-{bits}-{mode}" for bits in (128, 192, 256) for mode in ("ecb", "cbc", "ofb", "cfb")
)
"""The values of ``block_encryption_mode``. Source: tidb ``aesModes``."""
_BLOCK = 16
_PADDED = ("ecb", "cbc")


def _crypt(name: str, arguments: Sequence[SQLValue], mode: SQLMode) -> SQLValue:
    _, bits, chaining = mode.block_encryption_mode.split("-")
    takes_vector = chaining != "ecb"
    if takes_vector and len(arguments) != 3:
        raise ScenarioError(f"Incorrect parameter count in the call to {name}()")
    if None in arguments[: 2 + takes_vector]:
        return None
    data, secret, *vectors = map(_bytes, arguments)
    vector = vectors[0] if takes_vector else b""
    if takes_vector and len(vector) < _BLOCK:
        what = f"The initialization vector supplied to {name.lower()} is too short. Must be at least"
        raise ScenarioError(f"{what} {_BLOCK} bytes long")
    cipher = _cipher(_folded(secret, int(bits) // 8), chaining, vector[:_BLOCK])
    if name == "AES_ENCRYPT":
        return _run(cipher.encryptor(), _padded(data) if chaining in _PADDED else data)
    if chaining not in _PADDED:
        return _run(cipher.decryptor(), data)
    return None if len(data) % _BLOCK else _without_padding(_run(cipher.decryptor(), data))


def _bytes(value: SQLValue) -> bytes:
    return b"" if value is None else to_bytes(value)


def _cipher(key: bytes, chaining: str, vector: bytes) -> Cipher[_Mode]:
    try:
        from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError:
        what = "AES without the library cryptography is not supported"
        raise UnsupportedSQL(what, hint=install_command("aes")) from None
    make: dict[str, Callable[[], _Mode]] = {
        "ecb": modes.ECB, "cbc": partial(modes.CBC, vector),
        "ofb": partial(OFB, vector), "cfb": partial(CFB, vector),
    }  # fmt: skip
    return Cipher(algorithms.AES(key), make[chaining]())


def _run(context: CipherContext, data: bytes) -> bytes:
    return context.update(data) + context.finalize()


def _folded(secret: bytes, size: int) -> bytes:
    """Return the key of a password, as MySQL derives it."""
    key = bytearray(size)
    for position, byte in enumerate(secret):
        key[position % size] ^= byte
    return bytes(key)


def _padded(data: bytes) -> bytes:
    missing = _BLOCK - len(data) % _BLOCK
    return data + bytes([missing]) * missing


def _without_padding(data: bytes) -> bytes | None:
    padding = data[-1:] * data[-1] if data else b""
    return data[: -len(padding)] if 1 <= len(padding) <= _BLOCK and data.endswith(padding) else None


FUNCTIONS = {
    name: Function(partial(_crypt, name), 2, 3, type=E.BYTES, accepts_null=True, takes_bytes=True)
    for name in ("AES_DECRYPT", "AES_ENCRYPT")
}
