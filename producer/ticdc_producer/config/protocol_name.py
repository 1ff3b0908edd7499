"""The type of the parameter ``protocol``."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.entry_points import PROTOCOLS, installed
from ticdc_producer.model.option_type import Choice
from ticdc_producer.protocols.registry import BUILT_IN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolName(Choice):
    """A protocol: one of the choices, or one that an installed package adds."""

    def read(self, text: str) -> str:
        name = text.strip().lower()
        if name not in self.choices and name in installed(PROTOCOLS):
            return name
        return Choice.read(self, text)


PROTOCOL = ProtocolName(
    choices=tuple(BUILT_IN),
    foreign=("canal", "maxwell", "debezium-avro"),
    aliases=tuple((alias, spec.name) for spec in BUILT_IN.values() for alias in spec.aliases),
)
"""TiCDC's protocols, and those of installed packages."""
