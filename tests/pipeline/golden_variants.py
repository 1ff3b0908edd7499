"""The option files of the golden data: protocol and options of each, and how its messages are compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.protocols import (
    avro_golden,
    canal_json_messages,
    simple_golden,
    test_canal_golden,
    test_craft_golden,
    test_debezium_golden,
    test_maxwell_golden,
    test_open_golden,
)
from tests.protocols.canal_json_messages import in_column_order
from tests.protocols.craft_golden import damaged_offsets, units
from tests.protocols.golden_messages import GoldenMessage, events_of, load_messages
from ticdc_producer.model.event import Message
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.protocols.wire import EventBytes


@dataclass(frozen=True, kw_only=True)
class Variant:
    """:param options: of the codec; what a changefeed says otherwise stays."""

    protocol: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lacks_resolved(self) -> bool:
        """Whether rows of several transactions share messages, because no resolved event is between them.

        The files have a message per transaction, so that their events are compared instead of the messages.
        """
        return self.protocol in ("maxwell", "canal")

    def events(self, messages: Iterable[Message | GoldenMessage]) -> list[EventBytes]:
        """The part of each event."""
        wire = protocol_spec(self.protocol).wire
        assert wire is not None
        return [event for message in messages for event in wire.events(message.key, message.value)]

    def comparable(self, value: bytes | None) -> bytes | None:
        """A golden value without what is volatile in it."""
        if self.protocol == "simple":
            return simple_golden.comparable(value)
        return in_column_order(value or b"") if self.protocol == "canal-json" else value


_OPEN = {
    "open": {},
    "open.max-batch-size-1": {"max_batch_size": 1},
    "open.delete-only-handle-key": {"delete_only_output_handle_key_columns": True},
    "open.max-message-bytes-1024.handle-key-only": {
        "max_message_bytes": 1024,
        "large_message_handle_option": "handle-key-only",
    },
    "open.merge": {},
    "open.merge.max-message-bytes-2048": {"max_message_bytes": 2048},
    "open.only-output-updated-columns": {"only_output_updated_columns": True},
    "open.output-old-value-false": {"output_old_value": False},
}


_NEW = "new-"


_ALL = {
    **{name: Variant(protocol="open-protocol", options=options) for name, options in _OPEN.items()},
    **{
        name: Variant(protocol="open-protocol", options=asdict(options))
        for name, options in test_open_golden.VARIANTS.items()
        if name.startswith(_NEW)
    },
    **{
        name: Variant(protocol="canal-json", options=asdict(options))
        for name, options in canal_json_messages.VARIANTS.items()
    },
    **{
        name: Variant(protocol="debezium", options=asdict(options))
        for name, options in test_debezium_golden.VARIANTS.items()
    },
    **{
        name: Variant(protocol="craft", options=asdict(options))
        for name, options in test_craft_golden.VARIANTS.items()
    },
    **{
        name: Variant(protocol="maxwell", options=asdict(options))
        for name, options in test_maxwell_golden.VARIANTS.items()
    },
    **{
        name: Variant(protocol="canal", options=asdict(options))
        for name, options in test_canal_golden.VARIANTS.items()
    },
    **{
        name: Variant(protocol="simple", options=asdict(options))
        for name, options in simple_golden.VARIANTS.items()
    },
    **{
        name: Variant(protocol="avro", options=asdict(options))
        for name, options in avro_golden.VARIANTS.items()
    },
}

VARIANTS = {name: kind for name, kind in _ALL.items() if not name.startswith(_NEW)}
NEW_VARIANTS = {name: kind for name, kind in _ALL.items() if name.startswith(_NEW)}
"""Those of the newer TiCDC."""


def damaged_bytes(golden: Path, variant: str) -> list[list[int]]:
    """For each message of a file, the bytes that TiCDC's FLOAT bug overwrites; Craft alone has any."""
    messages = [message for message in load_messages(golden) if not message.error]
    sound = variant.endswith("floatfix") or golden.parent.name == "fuzz"
    if VARIANTS[variant].protocol != "craft" or sound:
        return [[]] * len(messages)
    events, encoder = events_of(golden), CraftEncoder(test_craft_golden.VARIANTS[variant])
    return [offsets for unit in units(messages, events) for offsets in damaged_offsets(encoder, unit, events)]
