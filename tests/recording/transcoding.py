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
from ticdc_producer import ProducerError, Recording, record
from ticdc_producer.config import resolve
from ticdc_producer.model.event import Event, RowEvent
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.open_protocol.decoder import event_bytes
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

Message: TypeAlias = tuple[bytes, bytes]
"""Key and value; an absent one is empty."""
VARIANTS = {
    "open": "protocol=open-protocol&batch-by=partition",
    "simple.json": "protocol=simple",
    "craft.floatfix": "protocol=craft&batch-by=partition",
    "canal-json.tidb-extension": "protocol=canal-json&enable-tidb-extension=true",
}
"""Parameters of the sink URI, by the variant in the name of a golden file."""
_BUILD_TIME = "clock.build-time=2000-01-01T00:00:00Z"


def sink_uri(variant: str) -> str:
    return f"kafka:///t?partition-num=1&{VARIANTS[variant]}"


def golden_files(source: str, target: str) -> list[str]:
    """The golden files that have both variants, without the variant, relative to the folder of all."""
    names: list[set[str]] = [
        {path.relative_to(GOLDEN).as_posix().removesuffix(f".{variant}.jsonl")
         for path in GOLDEN.rglob(f"*.{variant}.jsonl")}
        for variant in (source, target)
    ]  # fmt: skip
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


def difference(target: str, ours: Sequence[Message], theirs: Sequence[Message]) -> str:
    """What differs: nothing, ``row ids``, ``order``, ``text``, or ``events``.

    ``order`` is that of rows in a transaction, and ``text`` what is no part of an event: what a message says
    of a table, and the escape of a character.
    """
    if ours == theirs:
        return ""
    of_both = [_events(target, messages) for messages in (ours, theirs)]
    in_any_order = [sorted(map(repr, events)) for events in of_both]
    if in_any_order[0] != in_any_order[1]:
        return "events"
    if target == "open" and of_both[0] == of_both[1]:
        return "row ids" if _without_row_ids(ours) == _without_row_ids(theirs) else "text"
    same_messages = sorted(ours) == sorted(theirs)
    return "order" if same_messages or target in ("open", "craft.floatfix") else "text"
