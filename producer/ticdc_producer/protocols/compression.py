"""The options of large messages, claim-check references, and the compression of single keys and values.

snappy is the block format, lz4 the frame format. Source: tiflow ``pkg/compression/compress.go``. Kafka's
compression of record batches is independent of it.

Source of the references: tiflow ``pkg/sink/kafka/claimcheck/claim_check.go``,
``pkg/sink/codec/common/message.go`` (``ClaimCheckMessage``).
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args
from uuid import UUID

import cramjam
import lz4.frame
import msgspec

from ticdc_producer.errors import ChangefeedError, DecodeError
from ticdc_producer.hints import nearest
from ticdc_producer.model.event import ClaimObject

if TYPE_CHECKING:
    import pyarrow as pa


DEFAULT_MAX_MESSAGE_BYTES = 10 << 20

LargeMessageHandle: TypeAlias = Literal["none", "handle-key-only", "claim-check"]


def check_large_message_handle(option: str) -> None:
    """Check the value of ``large-message-handle-option``.

    :raises ChangefeedError: for an unknown value; the hint names the nearest known one.
    """
    if option not in get_args(LargeMessageHandle):
        raise ChangefeedError(
            f"unknown large-message-handle-option {option!r}",
            parameter="large-message-handle-option",
            hint=nearest(option, get_args(LargeMessageHandle)),
        )


def claim_name(content: bytes) -> str:
    """Return the file name of an object: a UUID like TiCDC's, but derived from the content instead of random.

    The same scenario therefore gives the same messages, and an event that is sent twice has one object.
    """
    return f"{UUID(bytes=sha256(content).digest()[:16], version=4)}.json"


def claim_content(key: bytes | None, value: bytes, *, raw_value: bool) -> bytes:
    """Return the content of a message's object: Go's JSON of both byte slices, or the bare value."""
    if raw_value:
        return value
    return b'{"key":%b,"value":%b}' % (_base64(key), _base64(value))


def _base64(data: bytes | None) -> bytes:
    return b"null" if data is None else b'"%b"' % b64encode(data)


def claim_location(storage_uri: str, claim: ClaimObject) -> str:
    """Return the location of an object, as the message contains it."""
    return f"{storage_uri.removesuffix('/')}/{claim.name}"


class _WrappedJSON(msgspec.Struct, forbid_unknown_fields=True):
    key: bytes | None
    value: bytes


_WRAPPED = msgspec.json.Decoder(_WrappedJSON)


def claimed_message(content: bytes) -> tuple[bytes | None, bytes]:
    """Return the key and value of the message in an object; a raw value has no key.

    :raises DecodeError: if the object is empty.
    """
    if not content:
        raise DecodeError("CLAIM-EMPTY", "a message in the claim-check object", part="value", byte=0)
    try:
        wrapped = _WRAPPED.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None, content  # a raw value, or a damaged one, which the protocol's decoder refuses
    return wrapped.key, wrapped.value


MAX_BYTES = 256 << 20
"""No message has more decompressed bytes. TiDB's rows have up to 120 MiB (``txn-entry-size-limit``)."""
_TIMES, _LEAST = 16, 16 << 20

PLAIN_STARTS = (b'{"', b"{}")  # neither a frame nor a block that starts with a literal
_LZ4_MAGIC = b"\x04\x22\x4d\x18"
_FIRST_BYTES = (b"{", b"\x16")
"""The first bytes of messages: of JSON, and of Simple's Avro encoding (``simple.envelope.MESSAGE``)."""
_STEP = 1 << 16
_LONGEST_VARINT = 5
_LAST_SHORT_LITERAL = 59
_SNAPPY_COPY, _SNAPPY_COPIED = 3, 64
"""Bytes of the densest element of a snappy block, and of the text that it yields: no block is denser."""


def decompressed_limit(max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES) -> int:
    """Return the maximum decompressed bytes of one message.

    TiCDC counts ``max-message-bytes`` after compression, so a message may have many times as many bytes. lz4
    can make 255 bytes of one. A row of TiDB's default limit, 6 MiB, fits whatever ``max-message-bytes`` is.

    >>> [decompressed_limit(limit) >> 20 for limit in (1000, 10 << 20, 100 << 20)]
    [16, 160, 256]
    """
    return min(max(_TIMES * max_message_bytes, _LEAST), MAX_BYTES)


DEFAULT_LIMIT = decompressed_limit()
"""The limit if the changefeed of a message is unknown."""


def compressed(data: bytes, method: str) -> bytes:
    """Compress a key or value.

    :param method: ``none`` or one of ``COMPRESSORS``.
    """
    return data if method == "none" else COMPRESSORS[method](data)


def all_compressed(texts: pa.Array, method: str) -> pa.Array:
    """Compress the keys or values of many rows."""
    if method == "none":
        return texts
    from ticdc_producer.protocols.arrow_text import map_values

    return map_values(texts, COMPRESSORS[method])


def _snappy(data: bytes) -> bytes:
    return bytes(cramjam.snappy.compress_raw(data))


def _lz4(data: bytes) -> bytes:
    """Compress to one frame with the header that TiCDC's library writes.

    A one-shot call would use smaller blocks.
    """
    compressor = lz4.frame.LZ4FrameCompressor(
        block_size=lz4.frame.BLOCKSIZE_MAX4MB, block_linked=False, content_checksum=True
    )
    return bytes(compressor.begin() + compressor.compress(data) + compressor.flush())


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {"snappy": _snappy, "lz4": _lz4}


def plain(data: bytes, part: str, max_bytes: int = DEFAULT_LIMIT) -> bytes:
    """Return the content of a key or value that may be compressed, the only such part of its message.

    :param max_bytes: limit of the decompressed text.
    :raises DecodeError: for damaged data, or more than the limit.
    """
    return data if data.startswith(PLAIN_STARTS) else Decompressor(max_bytes).text(data, part)


class Decompressor:
    """A decompressor of the parts of one message.

    A message does not name its compression. Its first bytes show it.

    :param max_bytes: limit of the decompressed parts together.
    """

    def __init__(self, max_bytes: int = DEFAULT_LIMIT) -> None:
        self._max_bytes = self._remaining = max_bytes

    def text(self, data: bytes, part: str, byte: int = 0) -> bytes:
        """Return the decompressed content. Data that is not compressed is returned unchanged.

        :param part: ``key`` or ``value``, for errors.
        :param byte: offset of the data in this part, for errors.
        :raises DecodeError: for damaged data, or more than the limit.
        """
        if data.startswith(_LZ4_MAGIC):
            text = self._from_lz4(data, part, byte)
        elif _is_snappy(data):
            text = self._from_snappy(data, part, byte)
        else:
            return data
        self._remaining -= len(text)
        return text

    def _from_snappy(self, data: bytes, part: str, byte: int) -> bytes:
        try:
            # Check the length before the library allocates that much.
            length = cramjam.snappy.decompress_raw_len(data)
            if length > self._remaining:
                raise self._too_long(part, byte)
            if length * _SNAPPY_COPY > len(data) * _SNAPPY_COPIED:
                expected = (
                    f"a snappy block that declares at most {len(data) * _SNAPPY_COPIED // _SNAPPY_COPY} bytes"
                )
                raise DecodeError("COMPRESSION-SNAPPY", expected, part=part, byte=byte)
            return bytes(cramjam.snappy.decompress_raw(data))
        except cramjam.DecompressionError:
            raise DecodeError("COMPRESSION-SNAPPY", "a snappy block", part=part, byte=byte) from None

    def _from_lz4(self, data: bytes, part: str, byte: int) -> bytes:
        frame = lz4.frame.LZ4FrameDecompressor()
        text, rest = bytearray(), data
        try:
            # A frame may declare its size, which is 0 otherwise.
            if lz4.frame.get_frame_info(data)["content_size"] > self._remaining:
                raise self._too_long(part, byte)
            # The library allocates max_length bytes at once, even for a short result.
            while not frame.eof and (rest or not frame.needs_input):
                text += frame.decompress(rest, max_length=min(_STEP, self._remaining + 1 - len(text)))
                rest = b""
                if len(text) > self._remaining:
                    raise self._too_long(part, byte)
        except RuntimeError:
            raise DecodeError("COMPRESSION-LZ4", "an lz4 frame", part=part, byte=byte) from None
        if not frame.eof or frame.unused_data:
            raise DecodeError("COMPRESSION-LZ4", "one whole lz4 frame", part=part, byte=byte)
        return bytes(text)

    def _too_long(self, part: str, byte: int) -> DecodeError:
        expected = f"at most {self._max_bytes} bytes in one message when decompressed"
        return DecodeError("COMPRESSION-SIZE", expected, part=part, byte=byte)


def _is_snappy(data: bytes) -> bool:
    """Return whether this is a snappy block whose first element is a literal that starts like a message.

    A JSON object never looks like this: its ``{``, read as the length, is followed by a quote, a brace or
    white space. Only a blank, among these, is the tag of a literal, and no second ``{`` may follow it. In
    Simple's Avro encoding the second and the third byte are equal and none of the first bytes.
    """
    size = next((n for n, byte in enumerate(data[:_LONGEST_VARINT], 1) if byte < 0x80), 0)
    tag = data[size] if size and len(data) > size else 1
    if tag & 3:
        return False
    more = max(0, (tag >> 2) - _LAST_SHORT_LITERAL)
    return data[size + 1 + more : size + 2 + more] in _FIRST_BYTES
