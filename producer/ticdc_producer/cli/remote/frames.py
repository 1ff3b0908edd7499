"""Frames: the parts of a command line that is sent to a service, and the parts of its answer.

A frame is its name, a space, the size of its content, a newline and the content. Reading one requires no
module; the module ``json`` alone costs half a start of Python.
"""

from __future__ import annotations

TYPE_CHECKING = False  # the module `typing` costs as much as `json`
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CONTENT_TYPE = "application/x-ticdc-producer-command"
PATH = "/v1/commands"
MOST_BYTES = 4 << 20
"""Size of a request. The service would end the connection, often before the client has read why."""
URL_VARIABLE = "TICDC_PRODUCER_SERVER"


def frame(name: str, *parts: str | bytes) -> bytes:
    """Build a frame whose content is the parts, with a zero byte between them.

    :param parts: none but the last contains a zero byte; a text may have surrogates for bytes of a path.
    """
    content = b"\0".join(
        part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape") for part in parts
    )
    return b"%s %d\n%s" % (name.encode(), len(content), content)


def read_frames(chunks: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each frame.

    :param chunks: the bytes of the frames, divided anywhere.
    :raises ValueError: for bytes that are not frames, and for an incomplete last frame.
    """
    buffer, start = bytearray(), 0
    for chunk in chunks:
        del buffer[:start]
        buffer += chunk
        start = 0
        while (end := buffer.find(b"\n", start)) >= 0:
            name, _, digits = bytes(buffer[start:end]).partition(b" ")
            size = int(digits) if digits.isdigit() else -1
            if size < 0 or not name.isalpha():
                raise ValueError("this is not a frame")
            if len(buffer) < end + 1 + size:
                break
            start = end + 1 + size
            yield name.decode(), bytes(buffer[end + 1 : start])
    if start < len(buffer):
        raise ValueError("the last frame is incomplete")


def parts_of(content: bytes, count: int) -> list[bytes]:
    """Return the parts of a frame's content.

    :raises ValueError: if it has fewer.
    """
    parts = content.split(b"\0", count - 1)
    if len(parts) < count:
        raise ValueError("a part of a frame is missing")
    return parts


def text_of(content: bytes) -> str:
    """Decode a part that is a text."""
    return content.decode("utf-8", "surrogateescape")
