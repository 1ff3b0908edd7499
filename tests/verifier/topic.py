"""A builder of small streams of decoded events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.model import shapes

FIELDS = {
    "topic": "string",
    "partition": "int",
    "offset": "long",
    "index": "int",
    "events": "int",
    "size": "long",
    "kind": "string",
    "commit_ts": "long",
    "schema": "string",
    "table": "string",
    "table_id": "long",
    "op": "string",
    "columns": "array<struct<name: string, type: string, flag: int>>",
    "before": "map<string, binary>",
    "after": "map<string, binary>",
    "handle_key_only": "byte",
    "query": "string",
    "ddl_type": "int",
    "error": "string",
    "error_byte": "long",
    "error_expected": "string",
}
SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in FIELDS.items())
HANDLE, UNIQUE, PLAIN = 0x0B, 0x51, 0x41
ACCOUNTS = {"id": HANDLE, "email": UNIQUE, "balance": PLAIN}

Image = Mapping[str, str | None]


def ts(second: int) -> int:
    """Commit-ts some seconds after the first one."""
    return 429918007904436226 + (second * 1000 << 18)


def account(key: int, balance: int = 0, **changed: str | None) -> dict[str, str | None]:
    """An image of a row of bank.accounts."""
    return {"id": str(key), "email": f"{key}@bank", "balance": str(balance)} | changed


@dataclass
class Topic:
    """One topic under construction; by default each event is a message of its own."""

    name: str = "bank"
    partitions: int = 2
    events: list[dict[str, Any]] = field(default_factory=list)

    def add(self, partition: int, kind: str, **fields: Any) -> Topic:
        offset = sum(event["partition"] == partition for event in self.events)
        location = {"topic": self.name, "partition": partition, "offset": offset, "index": 0}
        self.events.append({**location, "events": 1, "size": 100, "kind": kind, **fields})
        return self

    def row(
        self,
        partition: int,
        commit_ts: int,
        *,
        before: Image | None = None,
        after: Image | None = None,
        table: str = "accounts",
        flags: Mapping[str, int] = ACCOUNTS,
        **fields: Any,
    ) -> Topic:
        """A row event; its operation follows from the images it has."""
        op = "insert" if before is None else "delete" if after is None else "update"
        names = after or before or {}
        return self.add(
            partition,
            "row",
            commit_ts=commit_ts,
            schema="bank",
            table=table,
            op=op,
            columns=[(name, "bigint", flags[name]) for name in names],
            before=_bytes(before),
            after=_bytes(after),
            **fields,
        )

    def ddl(
        self,
        commit_ts: int,
        query: str,
        *,
        table: str = "accounts",
        ddl_type: int = 3,
        only: Iterable[int] | None = None,
    ) -> Topic:
        """A DDL, in all partitions or some only."""
        for partition in self._partitions(only):
            self.add(
                partition,
                "ddl",
                commit_ts=commit_ts,
                schema="bank",
                table=table,
                query=query,
                ddl_type=ddl_type,
            )
        return self

    def resolved(self, commit_ts: int, *, only: Iterable[int] | None = None) -> Topic:
        """A resolved event, in all partitions or some only."""
        for partition in self._partitions(only):
            self.add(partition, "resolved", commit_ts=commit_ts)
        return self

    def again(self, partition: int, start: int) -> Topic:
        """Repeats the events of a partition from an offset on, as after a restart of the changefeed."""
        held = [
            event for event in self.events if event["partition"] == partition and event["offset"] >= start
        ]
        for event in held:
            content = {
                name: value for name, value in event.items() if name not in ("topic", "offset", "index")
            }
            self.add(content.pop("partition"), content.pop("kind"), **content)
        return self

    def table(self) -> pa.Table:
        """The events (shape ``DECODED``)."""
        return pa.Table.from_pylist([_arrow(event) for event in self.events], shapes.DECODED)

    def frame(self, spark: SparkSession) -> DataFrame:
        rows = [tuple(event.get(name) for name in FIELDS) for event in self.events]
        return spark.createDataFrame(rows, SCHEMA)

    def _partitions(self, only: Iterable[int] | None) -> Iterable[int]:
        return range(self.partitions) if only is None else only


def _arrow(event: Mapping[str, Any]) -> dict[str, Any]:
    row = dict(event)
    for name in ("before", "after"):
        if row.get(name) is not None:
            row[name] = [(column, value) for column, value in row[name].items()]
    if row.get("columns") is not None:
        row["columns"] = [
            dict(zip(("name", "type", "flag"), column, strict=True)) for column in row["columns"]
        ]
    return row


def _bytes(image: Image | None) -> dict[str, bytearray | None] | None:
    if image is None:
        return None
    return {name: None if value is None else bytearray(value, "utf-8") for name, value in image.items()}
