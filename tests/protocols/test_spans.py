"""The named ranges of bytes: the bytes of a column's range, and no others, decode to its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from ticdc_producer.config import resolve
from ticdc_producer.model.event import Event, RowEvent
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.canal import wire
from ticdc_producer.protocols.canal.spans import canal_spans
from ticdc_producer.protocols.spans import ByteSpan, json_scalars
from ticdc_producer.protocols.spec import Options
from ticdc_producer.runs.stream_preview import StreamPreview, preview_stream
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.simulate.prepare import prepare

VALUES = {
    "a": ("INT", "11", "22"),
    "b": ("BIGINT UNSIGNED", "18446744073709551611", "18446744073709551612"),
    "c": ("DECIMAL(8,2)", "1.25", "1.26"),
    "d": ("DOUBLE", "1.5", "2.5"),
    "e": ("VARCHAR(20)", "'one \"'", "'two \\\\'"),
    "f": ("VARBINARY(9)", "x'01ff'", "x'02fe'"),
    "g": ("DATETIME(3)", "'2024-01-02 03:04:05.678'", "'2025-01-02 03:04:05.678'"),
    "h": ("DATE", "'2024-01-02'", "'2025-01-03'"),
    "i": ("TIME", "'01:02:03'", "'02:03:04'"),
    "j": ("YEAR", "2024", "2025"),
    "k": ("JSON", "'[1]'", "'[2]'"),
    "l": ("ENUM('x','y')", "'x'", "'y'"),
    "m": ("SET('x','y')", "'x'", "'y'"),
    "n": ("BIT(8)", "b'101'", "b'110'"),
    "o": ("TEXT", "'été'", "'eté'"),
    "type": ("VARCHAR(9)", "'DELETE'", "'UPDATE'"),
    "op": ("VARCHAR(9)", "'d'", "'u'"),
    "p": ("TIMESTAMP", "'2024-01-02 03:04:05'", "'2025-01-02 03:04:05'"),
}
"""Columns with values that have the same length in most protocols."""


def names_of(protocol: str) -> list[str]:
    """Return the columns for a protocol: TiCDC's encoder of Maxwell panics at an update of binary data."""
    return [name for name in VALUES if (protocol, name) != ("maxwell", "f")]


def sql(protocol: str) -> str:
    names = names_of(protocol)
    columns = ", ".join(f"{name} {VALUES[name][0]}" for name in names)
    first, second = (", ".join(VALUES[name][number] for name in names) for number in (1, 2))
    updates = ", ".join(f"{name} = {VALUES[name][2]}" for name in names)
    return (
        f"CREATE TABLE t (id INT PRIMARY KEY, {columns}); INSERT INTO t VALUES (1, {first});"
        f"INSERT INTO t VALUES (2, {second}); UPDATE t SET {updates} WHERE id = 1;"
        "DELETE FROM t WHERE id = 2;"
    )


PROTOCOLS = {
    "canal-json": "enable-tidb-extension=true", "open-protocol": "max-batch-size=2", "maxwell": "",
    "debezium": "", "simple": "", "simple in Avro": "encoding-format=avro", "craft": "max-batch-size=2",
    "avro": "enable-tidb-extension=true", "canal": "max-batch-size=2",
}  # fmt: skip
"""The parameters of each protocol."""


@dataclass(frozen=True)
class Sample:
    """A message."""

    protocol: str
    options: Options
    key: bytes | None
    value: bytes | None

    def events(self) -> list[Event]:
        return [*registry.decoder(self.protocol, self.options).events(self.key, self.value)]

    def rows(self) -> dict[int, RowEvent]:
        return {index: event for index, event in enumerate(self.events()) if isinstance(event, RowEvent)}

    def spans(self) -> list[ByteSpan]:
        return registry.annotate(self.protocol, self.key, self.value, self.options)

    def bytes_of(self, span: ByteSpan) -> bytes:
        source = self.key if span.part == "key" else self.value
        assert source is not None
        return source[span.start : span.end]

    def with_bytes(self, span: ByteSpan, content: bytes) -> Sample:
        value = self.value or b""
        assert span.part == "value"
        spliced = value[: span.start] + content + value[span.end :]
        return Sample(self.protocol, self.options, self.key, spliced)


def _preview(name: str) -> StreamPreview:
    protocol = name.partition(" ")[0]
    scenario = parse_scenario(sql(protocol).encode(), "scenario.sql", ())
    uri = f"kafka:///t?protocol={protocol}&partition-num=1&{PROTOCOLS[name]}"
    changefeed = resolve(uri, {}, scenario=scenario.changefeed, name=scenario.name)
    return preview_stream(prepare(scenario, changefeed=changefeed), verify_output=False)


def _samples(name: str) -> Iterator[Sample]:
    preview, protocol = _preview(name), name.partition(" ")[0]
    for row in preview.messages.to_pylist():
        sample = Sample(protocol, preview.options, row["key"], row["value"])
        if sample.rows():
            yield sample


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_bytes_of_a_range_are_those_of_its_column(protocol: str) -> None:
    """Bytes that are moved from one message into another change the value of this column alone."""
    moved = set()
    samples = [*_samples(protocol)]
    sources = [(sample, span) for sample in samples for span in sample.spans() if span.column]
    for sample, span in sources:
        if span.part == "key" or span.column == "id":
            continue
        size = span.end - span.start
        for other, source in sources:
            same_column = (source.column, source.part) == (span.column, "value")
            if not same_column or source.end - source.start != size:
                continue
            content = other.bytes_of(source)
            if content == sample.bytes_of(span):
                continue
            expected = getattr(other.rows()[source.event], source.image)[span.column]
            changed = sample.with_bytes(span, content).rows()[span.event]
            before = sample.rows()[span.event]
            assert getattr(changed, span.image)[span.column] == expected, span
            for image in ("before", "after"):
                old, new = getattr(before, image) or {}, getattr(changed, image) or {}
                differs = {name for name in old if old[name] != new[name]}
                assert differs <= {span.column}, span
            moved.add(span.column)
    assert moved >= set(names_of(protocol)) - {"o"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_value_has_a_range(protocol: str) -> None:
    for sample in _samples(protocol):
        spans = {(span.event, span.image, span.column) for span in sample.spans()}
        for index, row in sample.rows().items():
            image = "before" if row.after is None else "after"
            present = {name for name, value in getattr(row, image).items() if value is not None}
            assert {(index, image, name) for name in present} <= spans


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_range_is_outside_of_its_part_or_within_another(protocol: str) -> None:
    for sample in _samples(protocol):
        for part, content in (("key", sample.key), ("value", sample.value)):
            spans = sorted((span.start, span.end) for span in sample.spans() if span.part == part)
            ends = [0, *(end for _, end in spans)]
            assert all(start >= end for (start, _), end in zip(spans, ends, strict=False))
            assert ends[-1] <= len(content or b"")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_damaged_messages_have_ranges_and_no_error(protocol: str) -> None:
    samples = [*_samples(protocol)]
    contents = [b"", b"{", b"[[[", b'{"a":', b"\x00" * 9, b"\xff" * 40, b'{"data":[{"id":"\\q"}]}', b"]" * 99]
    contents += [(sample.value or b"")[:size] for sample in samples[:2] for size in range(0, 200, 7)]
    for content in contents:
        for span in registry.annotate(samples[0].protocol, content, content, samples[0].options):
            assert 0 <= span.start <= span.end <= len(content)


def test_a_canal_column_whose_name_is_a_number_has_no_name() -> None:
    column = wire.number(3, 0) + wire.content(8, b"x")
    change = wire.content(12, wire.content(2, column) * 9)
    entry = wire.content(1, wire.number(1, 1)) + wire.number(2, 2) + wire.content(3, change)
    packet = wire.number(2, 1) + wire.number(3, 7) + wire.content(5, wire.content(2, entry))
    spans = [*canal_spans(None, packet)]
    assert [packet[span.start : span.end] for span in spans] == [b"x"] * 9
    assert {span.column for span in spans} == {""}


def test_json_scalars_have_their_paths_and_positions() -> None:
    text = b' {"a": [1, {"b": null}], "c\\u0041": "x, \\"y\\"", "d": {}} {"e": true}'
    scalars = {
        (number, path): text[start:end] for number, path, start, end in json_scalars(text, 0, len(text))
    }
    assert scalars == {
        (0, ("a", 0)): b"1",
        (0, ("a", 1, "b")): b"null",
        (0, ("cA",)): b'"x, \\"y\\""',
        (1, ("e",)): b"true",
    }


@pytest.mark.parametrize("rest", [b'["a": 1], 2', b'{"b" 1}, 2', b"{1}, 2", b'{"b": [}, 2', b"]}, 2"])
def test_what_is_no_json_ends_the_scalars(rest: bytes) -> None:
    text = b'{"a": 1, "b": ' + rest + b"}"
    scalars = [text[start:end] for _, _, start, end in json_scalars(text, 0, len(text))]
    assert scalars == [b"1"]


def test_objects_and_lists_that_are_not_wanted_are_passed_over() -> None:
    text = '{"é": {"x": ["}", 1]}, "a": {"b": [9], "c": 2}, "d": [[3]]} {"a": {"c": 4}}'.encode()
    scalars = [
        (number, path, text[start:end])
        for number, path, start, end in json_scalars(text, 0, len(text), {(), ("a",)}.__contains__)
    ]
    assert scalars == [(0, ("a", "c"), b"2"), (1, ("a", "c"), b"4")]


@pytest.mark.parametrize(
    "hostile", [b"[" * 100_000, b'{"x":' * 100_000, b"9" * 10_000, b'"' + b"x" * 9, b"NaN{"]
)
def test_what_is_passed_over_may_be_hostile(hostile: bytes) -> None:
    text = b'{"a": 1, "b": {"c": ' + hostile + b'}, "d": 2}'
    paths = [path for _, path, _, _ in json_scalars(text, 0, len(text), {()}.__contains__)]
    assert paths == ([("a",), ("d",)] if hostile.isdigit() else [("a",)])
