"""The golden files of Avro, and the schema registry of each."""

from __future__ import annotations

import json
from pathlib import Path

from tests.golden_events import GOLDEN
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.decoder import AvroDecoder
from ticdc_producer.protocols.avro.encoder import AvroEncoder
from ticdc_producer.protocols.avro.names import Part, subject
from ticdc_producer.protocols.base import SchemaIDs
from ticdc_producer.protocols.row_options import AvroOptions

VARIANTS = {
    "avro": AvroOptions(),
    "avro.decimal-string.bigint-string": AvroOptions(
        avro_decimal_handling_mode="string", avro_bigint_unsigned_handling_mode="string"
    ),
    "avro.tidb-extension": AvroOptions(enable_tidb_extension=True, avro_enable_watermark=True),
}
FILES = sorted(
    (path, variant)
    for variant in VARIANTS
    for path in (GOLDEN / "visible").glob(f"*.{variant}.jsonl")
    if ".simple." not in path.name
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


class Registry:
    """A registry like TiCDC's own mock: ids count up from 1, and each schema of a subject has one id."""

    def __init__(self) -> None:
        self.ids: dict[tuple[str, str], int] = {}

    def id_of(self, table: TableInfo, part: Part, schema: str) -> int:
        """The golden files have one topic per table."""
        name = subject(f"{table.schema}_{table.name}", part)
        return self.ids.setdefault((name, schema), len(self.ids) + 1)

    def schema_of(self, number: int) -> str | None:
        return {schema_id: schema for (_, schema), schema_id in self.ids.items()}.get(number)

    @classmethod
    def golden(cls, messages_file: Path) -> Registry:
        """The schemas that TiCDC registered when it wrote a file."""
        registry = cls()
        path = messages_file.with_name(f"{messages_file.name.removesuffix('.jsonl')}.schemas.jsonl")
        for line in path.read_text("utf-8").splitlines():
            entry = json.loads(line)
            registry.ids[entry["subject"], entry["schema"]] = entry["id"]
        return registry

    @property
    def of_parts(self) -> SchemaIDs:
        """The ids by part and schema."""
        parts: tuple[Part, Part] = ("key", "value")
        return {
            (part, schema): number
            for (name, schema), number in self.ids.items()
            for part in parts
            if name.endswith(f"-{part}")
        }

    def encoder(self, options: AvroOptions) -> AvroEncoder:
        return AvroEncoder(options, schema_id=self.id_of)

    def decoder(self, time_zone: str = "UTC") -> AvroDecoder:
        return AvroDecoder(self.schema_of, time_zone)
