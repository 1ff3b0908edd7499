"""Debezium against the bytes of real TiCDC: every file, every option, encoded and decoded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenEvent, GoldenResolved, GoldenRow
from tests.new_events import is_new
from tests.protocols.debezium_events import DebeziumDDL, events_of
from tests.protocols.expected_events import expected_ddl, expected_resolved, expected_row
from tests.protocols.golden_messages import Compared, load_messages, row_messages
from tests.tiers import one_in
from ticdc_producer.errors import EncodeError
from ticdc_producer.model.event import Event, Message
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.row_options import DebeziumOptions

BUILT = 946684800000
VARIANTS = {
    "debezium": DebeziumOptions(output_ddl=True, build_ts_ms=BUILT),
    "debezium.disable-schema": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, debezium_disable_schema=True
    ),
    "debezium.output-old-value-false": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, output_old_value=False
    ),
    "debezium.tidb-extension": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, enable_tidb_extension=True
    ),
    "debezium.tidb-extension.disable-schema": DebeziumOptions(
        output_ddl=True, build_ts_ms=BUILT, enable_tidb_extension=True, debezium_disable_schema=True
    ),
    "new-debezium": DebeziumOptions(profile="new", output_ddl=True, build_ts_ms=BUILT),
    "new-debezium.disable-schema": DebeziumOptions(
        profile="new", output_ddl=True, build_ts_ms=BUILT, debezium_disable_schema=True
    ),
    "new-debezium.include-start-ts": DebeziumOptions(
        profile="new", output_ddl=True, build_ts_ms=BUILT, debezium_include_start_ts=True
    ),
    "new-debezium.tidb-extension": DebeziumOptions(
        profile="new", output_ddl=True, build_ts_ms=BUILT, enable_tidb_extension=True
    ),
}
# Events for which TiCDC's encoder panics, and what we write instead. Classic TiCDC (tiflow): NULL in a byte
# string column with a DEFAULT, and a table whose ENUM has a member that ends with a backslash. TiCDC new
# architecture: NULL in a DATE, DATETIME or TIMESTAMP column with a DEFAULT.
_DATES = {"dt": 18262, "dtm": 1577840523000, "dt6": 1577840523456789, "ts": "2020-01-01T01:02:03Z", "y": 2020}
PANICS = {
    ("generated_defaults", 40): {"b": "Z2gA", "vb": "aWo="},
    ("generated_defaults", 46): {"b": "Z2gA", "vb": "aWo="},
    ("generated_defaults", 49): {"b": "Z2gA", "vb": "aWo="},
    ("fuzz12", 0): {"columns": 24},
    **{("new/generated_defaults", seq): _DATES for seq in (40, 44, 46, 48, 49)},
}
FILES = sorted(
    (path, variant)
    for part in ("visible", "fuzz", "new")
    for variant in VARIANTS
    for path in (GOLDEN / part).glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_the_number_of_golden_files() -> None:
    assert len(FILES) == 16 * 5 + 20 * 2 + 16 * 4


@pytest.mark.parametrize(("path", "variant"), one_in(3, FILES), ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    """The slow half has the other files; ``test_golden_streams`` compares the messages of all, from SQL."""
    events = events_of(path)
    encoder = DebeziumEncoder(VARIANTS[variant])
    expected = [message for message in load_messages(path) if not message.error]
    assert expected
    for message in expected:
        (seq,) = message.events
        sent = encoded(encoder, events[seq])
        assert sent is not None
        assert (sent.key, sent.value) == (message.key, message.value)
    compared("debezium, encoded", len(expected))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_events_that_ticdc_refuses_are_refused(path: Path, variant: str) -> None:
    events, encoder = events_of(path), DebeziumEncoder(VARIANTS[variant])
    for message in load_messages(path):
        (seq,) = message.events
        if message.error and (_stem(path), seq) not in PANICS:
            with pytest.raises(EncodeError) as refusal:
                encoded(encoder, events[seq])
            text = message.error.replace("]", ": ", 1).removeprefix("[")
            assert refusal.value.what.startswith(f"{text}, in column ")


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_events_for_which_ticdc_panics_are_sent(path: Path, variant: str) -> None:
    events, encoder = events_of(path), DebeziumEncoder(VARIANTS[variant])
    panics = [message for message in load_messages(path) if message.error.startswith("PANIC")]
    assert {message.events[0] for message in panics} == {seq for stem, seq in PANICS if stem == _stem(path)}
    for message in panics:
        (seq,) = message.events
        ours = PANICS[_stem(path), seq]
        sent = encoded(encoder, events[seq])
        assert sent is not None
        assert sent.value is not None
        payload = json.loads(sent.value)["payload"]
        if isinstance(events[seq], GoldenRow):
            image = payload["after"] or payload["before"]
            assert {name: image[name] for name in ours} == ours
        else:
            assert len(payload["tableChanges"][0]["table"]["columns"]) == ours["columns"]
        assert list(DebeziumDecoder().events(sent.key, sent.value)) == [
            expected_event(events[seq], VARIANTS[variant])
        ]


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_bytes_give_golden_events(path: Path, variant: str, compared: Compared) -> None:
    events, decoder = events_of(path), DebeziumDecoder()
    sent = [message for message in load_messages(path) if not message.error]
    for message in sent:
        (seq,) = message.events
        decoded = list(decoder.events(message.key, message.value))
        assert decoded == [expected_event(events[seq], VARIANTS[variant])]
    compared("debezium, decoded", len(sent))


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_events_that_ticdc_skips_are_skipped(path: Path, variant: str) -> None:
    events, encoder = events_of(path), DebeziumEncoder(VARIANTS[variant])
    sent = {seq for message in load_messages(path) for seq in message.events}
    skipped = [event for seq, event in events.items() if seq not in sent]
    assert [encoded(encoder, event) for event in skipped] == [None] * len(skipped)


def test_some_ddls_are_skipped_and_all_by_default() -> None:
    path = GOLDEN / "visible" / "ddl_many.debezium.jsonl"
    ddls = [event for event in events_of(path).values() if isinstance(event, DebeziumDDL)]
    encoder = DebeziumEncoder(VARIANTS["debezium"])
    foreign_keys_and_ttl = {9, 10, 65, 67}
    assert {ddl.event.ddl_type for ddl in ddls if encoded(encoder, ddl) is None} == foreign_keys_and_ttl
    assert [encoded(DebeziumEncoder(), ddl) for ddl in ddls] == [None] * len(ddls)


def expected_event(event: GoldenEvent | DebeziumDDL, options: DebeziumOptions) -> Event:
    fidelity = DebeziumEncoder(options).fidelity
    if isinstance(event, DebeziumDDL):
        return expected_ddl(event.event, fidelity)
    if isinstance(event, GoldenResolved):
        return expected_resolved(event.commit_ts, fidelity)
    assert isinstance(event, GoldenRow)
    return expected_row(event, fidelity)


def _stem(path: Path) -> str:
    stem = path.name.split(".")[0]
    return f"new/{stem}" if is_new(path) else stem


def encoded(encoder: DebeziumEncoder, event: GoldenEvent | DebeziumDDL) -> Message | None:
    if isinstance(event, GoldenRow):
        (message,) = row_messages(encoder, [event])
        return message
    if isinstance(event, DebeziumDDL):
        return encoder.ddl(event.event, event.table, event.before)
    assert isinstance(event, GoldenResolved)
    return encoder.resolved(event.commit_ts)
