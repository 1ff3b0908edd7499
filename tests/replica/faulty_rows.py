"""Faults in the stream of the scenario ``migrations``, each in one row or DDL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.replica.decoded_stream import Event


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault.

    :param table: name of the table in the event.
    :param where: values of the row; of a DDL ``query`` is a part of its text.
    :param op: the operation; the newest such change of the row has the fault.
    :param values: other values of the new image.
    :param other_table: name of the table that the row is sent with.
    """

    name: str
    table: str
    where: Mapping[str, str]
    op: str = "insert"
    values: Mapping[str, str] = field(default_factory=dict)
    other_table: str = ""

    def __str__(self) -> str:
        return self.name

    def applied(self, events: list[Event]) -> list[Event]:
        """The events with the fault; without the row or DDL if nothing of it is to be changed."""
        meant = [number for number, event in enumerate(events) if self._is_meant(event)]
        assert meant, self.name
        if self.op != "ddl":
            meant = [max(meant, key=lambda number: (events[number]["commit_ts"], number))]
        if not self.values and not self.other_table:
            return [event for number, event in enumerate(events) if number not in meant]
        return [self._changed(event) if number in meant else event for number, event in enumerate(events)]

    def _is_meant(self, event: Event) -> bool:
        if self.op == "ddl":
            return event["kind"] == "ddl" and self.where["query"] in event["query"]
        if (event["kind"], event["table"], event["op"]) != ("row", self.table, self.op):
            return False
        image = dict(event["before"] if self.op == "delete" else event["after"])
        return all(image.get(name) == value.encode() for name, value in self.where.items())

    def _changed(self, event: Event) -> Event:
        new = dict(event["after"]) | {name: value.encode() for name, value in self.values.items()}
        return event | {"after": list(new.items()), "table": self.other_table or event["table"]}


def lost(table: str, op: str = "insert", **where: str) -> Fault:
    return Fault(name=f"lost {op} in {table} {where}", table=table, where=where, op=op)


def changed(fault: Fault, **values: str) -> Fault:
    return replace(fault, name=f"{fault.name.replace('lost', 'changed')} to {values}", values=values)


def in_table(fault: Fault, other: str) -> Fault:
    return replace(
        fault, name=f"{fault.name.replace('lost', 'misplaced')}, sent as {other}", other_table=other
    )


def lost_ddl(query: str) -> Fault:
    return Fault(name=f"lost DDL {query}", table="", where={"query": query}, op="ddl")


FAULTS = (
    # Before ADD, DROP and MODIFY COLUMN of customers, and after them.
    lost("customers", id="7"),
    changed(lost("customers", id="7"), last_name="Nuth"),
    lost("customers", "update", id="2"),
    changed(lost("customers", "update", id="5"), points="151"),
    lost("customers", id="6"),
    lost("customers", "update", id="4"),
    lost("customers", "update", id="1"),
    # Before MODIFY COLUMN and RENAME TABLE, between the two, and after them.
    lost("addresses", id="1"),
    changed(lost("addresses", id="4"), zip="10003"),
    lost("addresses", "delete", id="2"),
    lost("delivery_addresses", id="7"),
    lost("delivery_addresses", "update", id="3"),
    in_table(lost("delivery_addresses", id="7"), "addresses"),
    # Before and after RENAME COLUMN, MODIFY COLUMN and the change of the handle key.
    lost("products", sku="loom"),
    changed(lost("products", sku="loom"), price="99.51"),
    lost("products", "update", sku="moth"),
    lost("products", "update", sku="goto"),
    lost("products", sku="abacus"),
    # Before and after TRUNCATE TABLE and EXCHANGE PARTITION.
    lost("orders", id="3"),
    lost("archive", id="81"),
    changed(lost("archive", id="81"), status="2"),
    lost("archive", "update", id="4"),
    in_table(lost("archive", "update", id="4"), "orders"),
    lost("orders", "update", id="80"),
    in_table(lost("orders", id="8"), "archive"),
    lost("archive", "delete", id="5"),
    # Before and after TRUNCATE, REORGANIZE and DROP PARTITION and ADD COLUMN.
    lost("orders", id="2"),
    lost("orders", id="7"),
    lost("order_items", order_id="3"),
    lost("order_items", "update", order_id="7", line="2"),
    lost("order_items", "delete", order_id="5"),
    # DDLs.
    lost_ddl("ADD COLUMN `currency`"),
    lost_ddl("TRUNCATE PARTITION `y2022`"),
    lost_ddl("EXCHANGE PARTITION"),
    lost_ddl("DROP PARTITION `later`"),
    lost_ddl("RENAME TABLE"),
    lost_ddl("DROP COLUMN `fax`"),
)
FAST = FAULTS[::6]
