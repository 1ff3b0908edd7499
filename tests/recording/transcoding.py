"""Records messages of one protocol and replays the recording in another, without Kafka or Spark."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import load_messages
from ticdc_producer import ProducerError, Recording, record, run
from ticdc_producer.config import resolve
from ticdc_producer.model.event import Event, ResolvedEvent, RowEvent
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.open_protocol.decoder import event_bytes
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

Message: TypeAlias = tuple[bytes, bytes]
"""Key and value; an absent one is empty."""
EXACT = ("open", "simple.json", "craft.floatfix", "canal-json.tidb-extension")
"""The variants whose messages have all values, and the commit-ts of all events."""
VARIANTS = {
    "open": "protocol=open-protocol&batch-by=partition",
    "simple.json": "protocol=simple",
    "craft.floatfix": "protocol=craft&batch-by=partition",
    "canal-json.tidb-extension": "protocol=canal-json&enable-tidb-extension=true",
    "debezium": "protocol=debezium&output-ddl=true",
    "canal-json": "protocol=canal-json",
    "canal": "protocol=canal&batch-by=partition",
    "maxwell": "protocol=maxwell&batch-by=partition",
}
"""Parameters of the sink URI, by the variant in the name of a golden file."""
WRITTEN = {
    "csv files": "protocol=csv",
    "canal-json files": "protocol=canal-json",
    "avro": "protocol=avro&enable-tidb-extension=true&avro-enable-watermark=true",
}
"""Sources of which no golden file has all messages; other tests compare what this tool writes with TiCDC."""
_CONFIG = {"sink": {"csv": {"include-commit-ts": True, "output-old-value": True}}}
_ON_ERROR = "on-error=skip"
_BUILD_TIME = "clock.build-time=2000-01-01T00:00:00Z"


def sink_uri(variant: str) -> str:
    return f"kafka:///t?partition-num=1&{VARIANTS.get(variant) or WRITTEN[variant]}"


def golden_files(source: str, target: str) -> list[str]:
    """The golden files that have both variants, without the variant, relative to the folder of all.

    If the source is not exact, they are those of the folder ``visible``.
    """
    folder = GOLDEN if source in EXACT else GOLDEN / "visible"
    endings = [".sql" if variant in WRITTEN else f".{variant}.jsonl" for variant in (source, target)]
    names: list[set[str]] = [
        {path.relative_to(GOLDEN).as_posix().removesuffix(ending) for path in folder.rglob(f"*{ending}")}
        for ending in endings
    ]
    return sorted(names[0] & names[1])


def golden_messages(file: str, variant: str) -> list[Message]:
    """The messages of a golden file, without those that TiCDC rejects."""
    messages = load_messages(GOLDEN / f"{file}.{variant}.jsonl")
    return [_sorted((line.key or b"", line.value or b"")) for line in messages if not line.error]


def _sorted(message: Message) -> Message:
    """A message of Canal-JSON with its types in one order: TiCDC writes them in the order of a Go map."""
    key, value = message
    match = re.search(rb'"mysqlType":(\{.*?\}),"old":', value)
    if match is None:
        return message
    types = json.dumps(json.loads(match[1]), sort_keys=True).encode()
    return key, value.replace(match[1], types, 1)


def recorded(folder: Path, messages: Sequence[Message], variant: str) -> Recording:
    """The recording of messages in one partition."""
    file = folder / "messages.jsonl"
    lines = (
        {"topic": "t", "partition": 0, "offset": offset, "key": _text(key), "value": _text(value)}
        for offset, (key, value) in enumerate(messages)
    )
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return record(out=folder / "recording", sink_uri=sink_uri(variant), messages=file)


def written_and_recorded(folder: Path, script: Path, source: str) -> Recording:
    """The recording of what a script gives, in files or with the schemas of a registry."""
    out = folder / "recording"
    config = {**_CONFIG, "force-replicate": "force" in script.name}
    if source != "avro":
        uri = f"{(folder / 'files').as_uri()}?{WRITTEN[source]}"
        run(script, sink_uri=uri, config=config, overrides=[_ON_ERROR], verify_output=False)
        return record(out=out, sink_uri=uri, config=_CONFIG)
    golden = folder / "golden"
    run(
        script, sink_uri=sink_uri(source), out=golden, config=config, overrides=[_ON_ERROR],
        verify_output=False,
    )  # fmt: skip
    return record(out=out, folder=golden)


def _text(content: bytes) -> str | None:
    return base64.b64encode(content).decode() if content else None


def replayed(recording: Path, variant: str) -> list[Message]:
    """The messages of a recording in another protocol, without those that no golden file has."""
    job = prepare(recording, sink_uri=sink_uri(variant), overrides=[_BUILD_TIME])
    rows = simulated_topic(job).messages.select(["key", "value"]).to_pylist()
    messages = (_sorted((row["key"] or b"", row["value"] or b"")) for row in rows)
    return [message for message in messages if b'"type":"BOOTSTRAP"' not in message[1]]


def transcoded(folder: Path, file: str, source: str, target: str) -> list[Message] | str:
    """A golden file in another protocol; the error if it cannot be recorded."""
    try:
        if source in WRITTEN:
            return replayed(written_and_recorded(folder, GOLDEN / f"{file}.sql", source).folder, target)
        return replayed(recorded(folder, golden_messages(file, source), source).folder, target)
    except ProducerError as error:
        return str(error)


def _events(target: str, messages: Sequence[Message]) -> list[Event]:
    """The events of messages, without the ids of rows."""
    changefeed = resolve(sink_uri(target))
    options: dict[str, Any] = {**changefeed.codec_options(), "table_descriptions": ()}
    spec = registry.protocol_spec(changefeed.protocol)
    if spec.described_versions is not None:
        options["table_descriptions"] = tuple(
            value for _, value in messages if spec.described_versions(value)
        )
    decoder = registry.decoder(changefeed.protocol, options)
    events = (event for key, value in messages for event in decoder.events(key or None, value or None))
    return [replace(event, row_id=0) if isinstance(event, RowEvent) else event for event in events]


def _without_row_ids(messages: Sequence[Message]) -> list[tuple[bytes, bytes | None]]:
    """The blocks of Open Protocol's events, without the ids of rows."""
    events = (event for key, value in messages for event in event_bytes(key, value))
    return [(re.sub(rb'"rid":-?\d+,', b"", key), value) for key, value in events]


def _as_of(source: str, events: Sequence[Event]) -> list[str]:
    """Events in any order, without what the messages of a source do not say of them."""
    in_files = source.endswith("files")
    changefeed = resolve(f"file:///t?{WRITTEN[source]}" if in_files else sink_uri(source), _CONFIG)
    fidelity = registry.fidelity(changefeed.protocol, changefeed.codec_options())
    seen = []
    for event in events:
        if not isinstance(event, ResolvedEvent):
            op = event.op if isinstance(event, RowEvent) else None
            ts = fidelity.visible_commit_ts(event.commit_ts, op)
            seen.append(repr(replace(event, commit_ts=ts)))
        elif fidelity.resolved:
            seen.append(repr(event))
    return sorted(seen)


def difference(source: str, target: str, ours: Sequence[Message], theirs: Sequence[Message]) -> str:
    """What differs: nothing, ``row ids``, ``order``, ``text``, ``times``, or ``events``.

    ``order`` is that of rows in a transaction, ``text`` what is no part of an event: what a message says of a
    table, and the escape of a character. ``times`` are those of commits and resolved events that the messages
    of the source do not have.
    """
    if ours == theirs:
        return ""
    of_both = [_events(target, messages) for messages in (ours, theirs)]
    in_any_order = [sorted(map(repr, events)) for events in of_both]
    if in_any_order[0] != in_any_order[1]:
        return "times" if _as_of(source, of_both[0]) == _as_of(source, of_both[1]) else "events"
    if target == "open" and of_both[0] == of_both[1]:
        return "row ids" if _without_row_ids(ours) == _without_row_ids(theirs) else "text"
    same_messages = sorted(ours) == sorted(theirs)
    return "order" if same_messages or target in ("open", "craft.floatfix") else "text"
