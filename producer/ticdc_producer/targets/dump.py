"""Files of messages: ``messages.jsonl``, and what the tools of others print of a topic, one message per line.

``kcat -J`` writes every byte of key and value into its JSON strings as it is, also bytes that are not UTF-8
(kcat ``json.c``; yajl escapes control characters, quotes and backslashes alone). Nothing is lost until
another program reads the lines as text. Kafka's console consumer puts nothing around the bytes, so that only
messages without control characters can be divided again.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import msgspec

from ticdc_producer.model.event import Record
from ticdc_producer.targets.golden.read import (
    LINE_HINT,
    MESSAGE_LINE,
    NOT_SUCH_JSON,
    Int,
    MessageLine,
    Offset,
    Text,
    parsed_lines,
    record_of_line,
)

_RAW = "surrogateescape"
_Parser: TypeAlias = Callable[[bytes], MessageLine | None]
"""Returns the message of a line; None if the line is empty."""
_HINT = f"{LINE_HINT}; or as kcat -J or Kafka's console consumer prints it"


def file_records(path: Path) -> Iterator[Record]:
    """Read the messages of a file, in its order. The first line decides the form of all lines.

    :param path: ``/dev/stdin`` for standard input.
    :raises FolderError: for a line that is not a message, with its number.
    """
    return map(record_of_line, file_lines(path))


def file_lines(path: Path, *, topic: str = "", positioned: bool = False) -> Iterator[MessageLine]:
    """Read the messages of a file, in its order, as lines of ``messages.jsonl``.

    :param topic: of messages that do not name it; empty: the name of the file.
    :param positioned: whether each line has to name partition and offset.
    :raises FolderError: for a line that is not a message, with its number.
    """
    parser = _FileParser(topic or path.stem, positioned)
    errors = (*NOT_SUCH_JSON, _BadLine)
    lines = chain.from_iterable(parsed_lines(path, parser, "a message", _HINT, *errors))
    return (line for line in lines if line is not None)


class _BadLine(Exception):
    """A line that is not one of the dump."""


@dataclass
class _FileParser:
    """A parser of the lines of one file.

    :param topic: of messages that do not name it.
    """

    topic: str
    positioned: bool
    _parse: _Parser | None = None

    def __call__(self, line: bytes) -> MessageLine | None:
        if self._parse is None:
            if not line.strip():
                return None
            self._parse = self._parser_of(line)
        return self._parse(line)

    def _parser_of(self, line: bytes) -> _Parser:
        content = _json(line)
        if isinstance(content, dict) and (not content or content.keys() & {"topic", "offset"}):
            return _kcat_message if "payload" in content else MESSAGE_LINE.decode
        layout = _Layout.of(line)
        if layout is None:
            return MESSAGE_LINE.decode
        if self.positioned and not {"Partition", "Offset"} <= {*layout.prefixes}:
            raise _BadLine(
                "partition and offset are missing: start the console consumer with "
                "--property print.partition=true --property print.offset=true"
            )
        return _ConsoleLines(self.topic, layout).message


def _json(line: bytes) -> object:
    """Return the JSON of a line; None for anything else."""
    try:
        content: object = json.loads(line.decode("utf-8", _RAW))
    except (ValueError, RecursionError):
        return None
    return content


class _KcatLine(msgspec.Struct):
    """A line of ``kcat -J``.

    :ivar headers: names and values in turn; or values by name, with kcat's ``-X`` for them.
    """

    topic: Text
    partition: Int
    offset: Offset
    payload: str | None
    key: str | None = None
    ts: Annotated[int, msgspec.Meta(le=(1 << 63) - 1)] = 0
    headers: list[str | None] | dict[str, list[str | None]] | None = None


_AVRO = re.compile(r"`str \| null`, got `\w+` - at `\$\.(key|payload)`")


def _kcat_message(line: bytes) -> MessageLine | None:
    if not line.strip():
        return None
    try:
        kcat = msgspec.convert(json.loads(line.decode("utf-8", _RAW)), _KcatLine)
    except ValueError as error:
        if _AVRO.search(str(error)):
            what = f"{error}: kcat decoded the messages; run it without -s"
            raise _BadLine(what) from None
        raise _BadLine(str(error)) from None
    return MessageLine(
        topic=_name(kcat.topic),
        partition=kcat.partition,
        offset=kcat.offset,
        key=_bytes(kcat.key),
        value=_bytes(kcat.payload),
        timestamp=kcat.ts if kcat.ts > 0 else 0,
        headers=[*_headers(kcat.headers)],
    )


def _bytes(text: str | None) -> bytes | None:
    """Return the bytes that kcat wrote; a lone surrogate that is none of these bytes is not UTF-8.

    >>> _bytes(b"\\xff\\x00a".decode("utf-8", "surrogateescape"))
    b'\\xff\\x00a'
    """
    try:
        return None if text is None else text.encode("utf-8", _RAW)
    except UnicodeEncodeError:
        raise _BadLine("a surrogate without its other half") from None


def _name(text: str) -> str:
    """Return a name, which Kafka does not require to be UTF-8."""
    return (_bytes(text) or b"").decode("utf-8", "replace")


def _headers(headers: Sequence[str | None] | Mapping[str, list[str | None]] | None) -> Iterator[Any]:
    if isinstance(headers, Mapping):
        yield from (
            (_name(name), _bytes(value) or b"") for name, values in headers.items() for value in values
        )
    elif headers:
        pairs = zip(headers[::2], headers[1::2], strict=False)
        yield from ((_name(name), _bytes(value) or b"") for name, value in pairs if name)


_PREFIXES = {
    "Time": rb"(?:CreateTime|LogAppendTime):(-?\d{1,19})|NO_TIMESTAMP|NoTimestampType:-?\d+",
    "Partition": rb"Partition:(\d{1,10})",
    "Offset": rb"Offset:(\d{1,19})",
    "Delivery": rb"Delivery:(?:\d+|NOT_PRESENT)",
    "Epoch": rb"Epoch:(?:\d+|NOT_PRESENT)",
}
"""What the console consumer prints before headers, key and value, in its order. Source: kafka
``DefaultMessageFormatter``."""
_PATTERNS = {name: re.compile(rb"(?:%b)\t" % pattern) for name, pattern in _PREFIXES.items()}
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_NULL, _NO_HEADERS = b"null", b"NO_HEADERS"
_BINARY = (
    "its key or value is binary, and the console consumer does not print where it ends: read the topic "
    "itself, or dump it with kcat -J"
)


@dataclass(frozen=True)
class _Layout:
    """The parts of a line of the console consumer, which all lines of a file have.

    :param prefixes: names of ``_PREFIXES``.
    :param parts: the names of the parts after them: ``headers``, ``key``, ``value``.
    """

    prefixes: tuple[str, ...]
    parts: tuple[str, ...]

    @classmethod
    def of(cls, line: bytes) -> _Layout | None:
        """Return the layout of a file with this line; None if the console consumer did not print it."""
        prefixes, position = [], 0
        for name, pattern in _PATTERNS.items():
            match = pattern.match(line, position)
            if match is not None:
                prefixes.append(name)
                position = match.end()
        rest = _parts(line[position:])
        if not _is_text(rest[-1]):
            if not prefixes:
                return None
            raise _BadLine(_BINARY)
        if len(rest) > 3:
            raise _BadLine(_BINARY)
        has_headers = len(rest) == 3 or (
            len(rest) == 2 and (rest[0] == _NO_HEADERS or (b":" in rest[0] and not _is_text(rest[0])))
        )
        parts = ("headers",) * has_headers + ("key",) * (len(rest) - has_headers - 1) + ("value",)
        return cls(tuple(prefixes), parts)


def _parts(rest: bytes) -> list[bytes]:
    return rest.rstrip(b"\n").split(b"\t")


def _is_text(part: bytes) -> bool:
    """Return whether a part is the JSON of a message, or the word for a part that is null."""
    return part.startswith(b"{") or part.rstrip(b"\r") == _NULL


@dataclass
class _ConsoleLines:
    """The lines of the console consumer.

    A message without partition is in partition 0; one without offset follows the message before.
    """

    topic: str
    layout: _Layout
    _next: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    def message(self, line: bytes) -> MessageLine | None:
        """Return the message of a line."""
        if not line.strip():
            return None  # of a message that ends in a line break
        if _CONTROL.search(line):
            raise _BadLine(_BINARY)
        numbers, position = dict[str, int](), 0
        for name in self.layout.prefixes:
            match = _PATTERNS[name].match(line, position)
            if match is None:
                raise _BadLine(f"it has no {name}, which the first line has")
            numbers[name] = int(match[1]) if match.re.groups and match[1] else 0
            position = match.end()
        parts = _parts(line[position:])
        if len(parts) != len(self.layout.parts):
            what = f"{len(parts)} parts between tabs; the first line has {len(self.layout.parts)}"
            raise _BadLine(what)
        return self._message(numbers, dict(zip(self.layout.parts, parts, strict=True)))

    def _message(self, numbers: Mapping[str, int], parts: Mapping[str, bytes]) -> MessageLine:
        partition = numbers.get("Partition", 0)
        offset = numbers.get("Offset", self._next[partition])
        self._next[partition] = offset + 1
        return msgspec.convert(
            {
                "topic": self.topic,
                "partition": partition,
                "offset": offset,
                "key": _part(parts.get("key", _NULL)),
                "value": _part(parts["value"]),
                "timestamp": max(numbers.get("Time", 0), 0),
                "headers": [*_printed_headers(parts.get("headers", _NO_HEADERS))],
            },
            MessageLine,
            builtin_types=(bytes,),
        )


def _part(printed: bytes) -> bytes | None:
    return None if printed.rstrip(b"\r") == _NULL else printed


def _printed_headers(printed: bytes) -> Iterator[tuple[str, bytes]]:
    if printed != _NO_HEADERS:
        for header in printed.split(b","):
            name, _, value = header.partition(b":")
            yield name.decode("utf-8", "replace"), value
