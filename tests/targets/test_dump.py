"""Files that kcat and Kafka's console consumer write are read as messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from ticdc_producer.errors import FolderError
from ticdc_producer.model.event import Record
from ticdc_producer.targets.dump import file_lines, file_records

ROW = b'{"id":0,"data":[{"v":"a\\tb \xe6\x95\xb0"}]}'


def _records(tmp_path: Path, content: bytes, name: str = "orders.txt") -> list[Record]:
    path = tmp_path / name
    path.write_bytes(content)
    return list(file_records(path))


def kcat_line(key: bytes | None, value: bytes | None, offset: int = 0, more: bytes = b"") -> bytes:
    """Return a line as kcat writes it with yajl: other bytes than those that JSON escapes as they are."""
    head = b'{"topic":"t","partition":1,"offset":%d,"tstype":"create","ts":1640007049196,"broker":0' % offset
    return head + more + b',"key":%b,"payload":%b}\n' % (_yajl(key), _yajl(value))


def _yajl(part: bytes | None) -> bytes:
    short = {
        0x0A: b"\\n",
        0x0D: b"\\r",
        0x09: b"\\t",
        0x08: b"\\b",
        0x0C: b"\\f",
        0x22: b'\\"',
        0x5C: b"\\\\",
    }
    if part is None:
        return b"null"
    escaped = (short.get(byte) or (b"\\u%04X" % byte if byte < 0x20 else bytes([byte])) for byte in part)
    return b'"' + b"".join(escaped) + b'"'


def test_kcat_writes_every_byte(tmp_path: Path) -> None:
    every_byte = bytes(range(256))
    records = _records(tmp_path, kcat_line(every_byte, ROW, 5) + kcat_line(None, None, 6) + b"\n")
    assert [(record.key, record.value) for record in records] == [(every_byte, ROW), (None, None)]
    first = records[0]
    assert (first.topic, first.partition, first.offset, first.timestamp) == ("t", 1, 5, 1640007049196)


@pytest.mark.parametrize("headers", [b'["a","1","a",null]', b'{"a":["1",null]}'])
def test_kcat_has_two_forms_of_headers(tmp_path: Path, headers: bytes) -> None:
    (record,) = _records(tmp_path, kcat_line(None, ROW, more=b',"headers":' + headers))
    assert record.headers == (("a", b"1"), ("a", b""))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"topic":"t","partition":0,"offset":0,"key":null,"payload":{"id":1}}', "run it without -s"),
        (b'{"topic":"t","partition":-1,"offset":0,"payload":"{}"}', "`$.partition`"),
        (b'{"topic":"t","offset":0,"payload":"{}"}', "missing required field `partition`"),
        (b'{"topic":"t","partition":0,"offset":0,"payload":"\\ud800"}', "a surrogate without its other half"),
        (b'{"topic":"t","partition":0,"offset":0,"payload":"', "Invalid control character"),
        (
            b'{"topic":"\\ud800","partition":0,"offset":0,"payload":"{}"}',
            "a surrogate without its other half",
        ),
        (b'{"topic":"t","partition":0,"offset":0,"ts":9223372036854775808,"payload":"{}"}', "`$.ts`"),
    ],
)
def test_a_line_that_kcat_does_not_write(tmp_path: Path, line: bytes, message: str) -> None:
    with pytest.raises(FolderError) as rejected:
        _records(tmp_path, kcat_line(None, ROW) + line + b"\n")
    assert "orders.txt:2: this line is not a message: " in str(rejected.value)
    assert message in str(rejected.value)


PREFIX = b"CreateTime:1640007049196\tPartition:2\tOffset:7\t"


@pytest.mark.parametrize(
    ("prefix", "key", "expected"),
    [
        (b"", b"", (0, 0, 0, None, ())),
        (PREFIX, b"", (2, 7, 1640007049196, None, ())),
        (b"LogAppendTime:5\tOffset:7\t", b"null\t", (0, 7, 5, None, ())),
        (b"Partition:2\tOffset:7\tEpoch:0\t", b'{"id":1}\t', (2, 7, 0, b'{"id":1}', ())),
        (b"NO_TIMESTAMP\t", b"NO_HEADERS\t", (0, 0, 0, None, ())),
        (b"", b"a:1,b:2\t", (0, 0, 0, None, (("a", b"1"), ("b", b"2")))),
        (PREFIX, b'a:1\t{"id":1}\t', (2, 7, 1640007049196, b'{"id":1}', (("a", b"1"),))),
    ],
)
def test_the_parts_that_the_console_consumer_prints(
    tmp_path: Path, prefix: bytes, key: bytes, expected: tuple[object, ...]
) -> None:
    (record,) = _records(tmp_path, prefix + key + ROW + b"\n")
    assert (record.topic, record.value) == ("orders", ROW)
    assert (
        record.partition, record.offset, record.timestamp, record.key, record.headers,
    ) == expected  # fmt: skip


def test_a_name_need_not_be_utf_8(tmp_path: Path) -> None:
    (record,) = _records(tmp_path, kcat_line(None, ROW, more=b',"headers":["\xff","1"]'))
    assert record.headers == (("\ufffd", b"1"),)


def test_an_empty_line_may_be_the_first(tmp_path: Path) -> None:
    assert [record.value for record in _records(tmp_path, b"\n" + PREFIX + ROW + b"\n")] == [ROW]


def test_messages_without_offsets_are_numbered(tmp_path: Path) -> None:
    records = _records(tmp_path, b"".join(b"Partition:%d\t%b\n" % (part, ROW) for part in (0, 1, 0)))
    assert [(record.partition, record.offset) for record in records] == [(0, 0), (1, 0), (0, 1)]


def test_a_message_that_ends_in_crlf_and_one_without_value(tmp_path: Path) -> None:
    records = _records(tmp_path, ROW + b"\r\n\nnull\n" + ROW + b"\r\n")
    assert [record.value for record in records] == [ROW + b"\r", None, ROW + b"\r"]


@pytest.mark.parametrize(
    ("lines", "number", "message"),
    [
        (PREFIX + b"\0\0\1\t" + ROW, 1, "dump it with kcat -J"),
        (PREFIX + ROW + b"\n" + PREFIX + b"\0" + ROW, 2, "dump it with kcat -J"),
        (PREFIX + ROW + b"\n" + ROW, 2, "it has no Time, which the first line has"),
        (ROW + b"\n" + ROW + b"\t" + ROW, 2, "2 parts between tabs; the first line has 1"),
        (b"Partition:0\tOffset:99999999999999\t" + ROW, 1, "<= 8796093022207"),
        (PREFIX + ROW + b"\nCreateTime:5\tPartition:" + b"1" * 5000 + b"\tOffset:7\t" + ROW, 2, "it has no"),
        (b"hello", 1, "JSON is malformed"),
    ],
)
def test_lines_that_the_console_consumer_cannot_show(
    tmp_path: Path, lines: bytes, number: int, message: str
) -> None:
    with pytest.raises(FolderError) as rejected:
        _records(tmp_path, lines + b"\n")
    assert f"orders.txt:{number}: this line is not a message: " in str(rejected.value)
    assert message in str(rejected.value)


def test_positions_can_be_required(tmp_path: Path) -> None:
    path = tmp_path / "orders.txt"
    path.write_bytes(PREFIX + ROW + b"\n")
    assert [line.topic for line in file_lines(path, topic="named", positioned=True)] == ["named"]
    path.write_bytes(b"Partition:0\t" + ROW + b"\n")
    with pytest.raises(FolderError, match=r"print\.offset=true"):
        list(file_lines(path, positioned=True))
