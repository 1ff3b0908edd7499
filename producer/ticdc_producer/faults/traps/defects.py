"""Illegal traps: events that are lost, reordered or misplaced, and rows that contradict other events."""

from __future__ import annotations

import numpy as np

from ticdc_producer.faults.event_traps import Columns, integers, is_kind
from ticdc_producer.faults.illegal_event import (
    AFTER_ORIGINAL,
    Edit,
    EventGroup,
    IllegalEventTrap,
    moved_before,
    removal,
)
from ticdc_producer.model.event import Kind, Op
from ticdc_producer.model.parameter import Protocol
from ticdc_producer.model.shapes import DELIVERY_KEY


class LostRow(IllegalEventTrap):
    id = "lost-row"
    summary = "One row event never arrives, although its neighbours do."
    issues = ("pingcap/ticdc#4051",)
    violates = ("EXPECTED-EVENTS",)
    may_report = ("INV-ROW-STATE", "INV-OLD-IMAGE")
    requires = "a row event"
    consumer_action = (
        "Cannot detect it alone, unless an old image or an absent row reveals it; compares with the source."
    )

    def edit(self, group: EventGroup) -> Edit:
        return removal(group.rows())


class ReorderedKey(IllegalEventTrap):
    id = "reordered-key"
    summary = "Two changes of one row are swapped, so the older one is delivered last."
    issues = ("pingcap/tiflow#11823", "pingcap/tiflow#11237")
    violates = ("INV-ORDER-KEY",)
    may_report = (
        "INV-ORDER-TABLE",
        "INV-ROW-STATE",
        "INV-OLD-IMAGE",
        "INV-RESOLVED",
        "INV-DDL-BARRIER-BEFORE",
        "INV-DDL-BARRIER-AFTER",
        "EXPECTED-EVENTS",
    )
    requires = "two changes of one row in one partition, with different commit-ts"
    consumer_action = "Does not let an older commit-ts of a row overwrite a newer one."
    kafka_consumer = "Does not notice it."

    def edit(self, group: EventGroup) -> Edit:
        following = group.neighbours.next_of_row
        times = integers(group.events, "deliver_after_ts")
        fits = (following >= 0) & (times[following] > times)

        def changes(number: int) -> Columns:
            position: Columns = {name: group.value(name, int(following[number])) for name in DELIVERY_KEY}
            return {**position, "delivery_no": AFTER_ORIGINAL}

        return Edit(fits, changes)


class WrongPartition(IllegalEventTrap):
    id = "wrong-partition"
    summary = "A row is in another partition than its table's dispatch rule gives."
    issues = ("pingcap/tiflow#10712", "alibaba/canal#959", "alibaba/canal#1507")
    violates = ("INV-ROW-PARTITION",)
    may_report = (
        "INV-KEY-PARTITION",
        "INV-ORDER-TABLE",
        "INV-ORDER-KEY",
        "INV-ROW-STATE",
        "INV-OLD-IMAGE",
        "INV-BATCH-KEY",
        "EXPECTED-EVENTS",
    )
    requires = "a row event and at least two partitions"
    consumer_action = "Stops, as TiCDC's own consumer does, because the order of the row's changes is lost."

    def edit(self, group: EventGroup) -> Edit:
        partition = integers(group.events, "partition")
        index = integers(group.events, "partition_index")
        partitions = group.partitions.sizes(index)

        def changes(number: int) -> Columns:
            other = int((partition[number] + 1) % partitions[number])
            return {"partition": other, "partition_index": int(index[number] - partition[number]) + other}

        return Edit(group.rows(), changes, several=True)


class EarlyResolved(IllegalEventTrap):
    id = "early-resolved"
    summary = "A resolved event comes before a row whose commit-ts is smaller."
    issues = ("pingcap/ticdc#4051",)
    violates = ("INV-RESOLVED",)
    may_report = (
        "INV-RESOLVED-DDL",
        "INV-RESOLVED-MONO",
        "INV-RESOLVED-BROADCAST",
        "INV-DDL-BARRIER-BEFORE",
        "EXPECTED-EVENTS",
    )
    requires = "a row and a later resolved event (Canal-JSON and Debezium with enable-tidb-extension=true)"
    consumer_action = "Reports the late row; the data that it finalized at the resolved-ts was incomplete."

    def edit(self, group: EventGroup) -> Edit:
        times, epochs = group.neighbours.row_before
        fits = is_kind(group.events, Kind.RESOLVED) & (times >= 0)
        return Edit(fits, lambda number: moved_before(times[number], epochs[number]))


class MissingResolved(IllegalEventTrap):
    id = "missing-resolved"
    summary = "A resolved event is missing in one partition, although later ones arrive."
    violates = ("INV-RESOLVED-BROADCAST",)
    may_report = ("EXPECTED-EVENTS",)
    requires = (
        "resolved events (Canal-JSON and Debezium with enable-tidb-extension=true), more than one, in at "
        "least two partitions"
    )
    consumer_action = "Waits; the next resolved event of the partition covers the missing one."

    def edit(self, group: EventGroup) -> Edit:
        # A later resolved event shows that the partition did not merely end.
        return removal(group.neighbours.has_later_resolved, several=True)


class MissingDDL(IllegalEventTrap):
    id = "missing-ddl"
    summary = "A DDL is missing in one partition that should have it."
    issues = ("pingcap/tiflow#12107", "pingcap/tiflow#10678", "pingcap/ticdc#4454")
    violates = ("INV-DDL-BROADCAST", "EXPECTED-EVENTS")
    may_report = ("INV-DDL-BARRIER-AFTER", "INV-SCHEMA")
    requires = (
        "a DDL event (Debezium with output-ddl=true); INV-DDL-BROADCAST needs a second partition that has it"
    )
    consumer_action = (
        "Accepts DDLs from any partition, and rejects rows that do not match the schema it knows."
    )
    occurrence = "a DDL"
    at_ddl = True

    def edit(self, group: EventGroup) -> Edit:
        return removal(is_kind(group.events, Kind.DDL), several=True)


class DDLBeforeItsRows(IllegalEventTrap):
    id = "ddl-before-its-rows"
    summary = "A DDL comes before a row that was committed before it."
    issues = ("pingcap/tiflow#12107", "pingcap/tiflow#10678", "pingcap/ticdc#6165")
    violates = ("INV-DDL-BARRIER-BEFORE",)
    may_report = ("INV-SCHEMA", "INV-RESOLVED-DDL", "EXPECTED-EVENTS")
    requires = "a row before a DDL of its table in one partition"
    consumer_action = "Compares commit-ts, not offsets, and decodes the row with the schema before the DDL."
    occurrence = "a DDL"
    at_ddl = True

    def edit(self, group: EventGroup) -> Edit:
        times, epochs = group.neighbours.table_row_before
        fits = is_kind(group.events, Kind.DDL) & (times >= 0)
        return Edit(fits, lambda number: moved_before(times[number], epochs[number]))


class ChangedDuplicate(IllegalEventTrap):
    id = "changed-duplicate"
    summary = "A row event is delivered again with the same row key and commit-ts but other values."
    violates = ("INV-DUP-CONTENT",)
    may_report = ("INV-COLLAPSE", "INV-OLD-IMAGE", "INV-ROW-STATE", "INV-TXN-DELETE-FIRST", "EXPECTED-EVENTS")
    requires = "an update that changes a column that is in no index"
    consumer_action = "Stops, because one commit cannot have two contents."

    def edit(self, group: EventGroup) -> Edit:
        def changes(number: int) -> Columns:
            return {"after": group.value("before", number), "delivery_no": AFTER_ORIGINAL}

        return Edit(group.differs(), changes, adds=True)


_OF_IMAGES: tuple[Protocol, ...] = ("open-protocol", "craft", "canal-json", "debezium", "canal")
"""The protocols that have whole old images, and name the columns of the key. Rows of Maxwell do not name it,
those of Avro have no old image, and Simple has its schema in other messages."""


class StaleBeforeImage(IllegalEventTrap):
    id = "stale-before-image"
    summary = "The old image of an update or delete differs from the row that the previous change left."
    protocols = _OF_IMAGES
    issues = ("pingcap/tiflow#2758", "pingcap/tiflow#10803")
    violates = ("INV-OLD-IMAGE",)
    may_report = ("EXPECTED-EVENTS",)
    requires = (
        "an update, with old values, that changes a column that is in no index, of a row whose previous "
        "change is in the stream"
    )
    consumer_action = "Trusts its own state, not the old image, and reports the difference."

    def edit(self, group: EventGroup) -> Edit:
        return Edit(group.differs(), lambda number: {"before": group.value("after", number)})


class Uncollapsed(IllegalEventTrap):
    id = "uncollapsed"
    summary = "A transaction's changes of one row are sent one by one instead of as their net change."
    violates = ("INV-COLLAPSE",)
    may_report = ("INV-OLD-IMAGE", "INV-ROW-STATE", "INV-TXN-DELETE-FIRST", "EXPECTED-EVENTS")
    requires = "an insert that is not half of a split update"
    consumer_action = "Can identify the last change of the commit-ts only by the order of delivery."

    def edit(self, group: EventGroup) -> Edit:
        def changes(number: int) -> Columns:
            image = group.value("after", number)
            return {"op": int(Op.UPDATE), "before": image, "delivery_no": AFTER_ORIGINAL}

        return Edit(group.rows(Op.INSERT) & ~group.neighbours.split_halves, changes, adds=True)


class Unsplit(IllegalEventTrap):
    id = "unsplit"
    summary = (
        "An update that changes a key is sent as one event, although the changefeed splits such updates."
    )
    protocols = _OF_IMAGES
    issues = ("pingcap/tiflow#11297", "pingcap/tiflow#6269", "pingcap/tiflow#11270")
    violates = ("INV-KEY-UPDATE-SPLIT",)
    may_report = (
        "INV-KEY-PARTITION",
        "INV-ROW-PARTITION",
        "INV-ROW-STATE",
        "INV-OLD-IMAGE",
        "INV-COLLAPSE",
        "EXPECTED-EVENTS",
    )
    requires = (
        "an update of a non-clustered primary key or of a unique key, which TiCDC splits into a delete and "
        "an insert"
    )
    consumer_action = "Also removes the row with the old key if the key differs between the two images."

    def edit(self, group: EventGroup) -> Edit:
        deleted, deletes = group.neighbours.deleted_half, group.rows(Op.DELETE)

        def changes(number: int) -> Columns:
            before = group.value("before", int(deleted[number]))
            return {"op": int(Op.UPDATE), "split": False, "before": before}

        return Edit(
            group.rows(Op.INSERT) & (deleted >= 0),
            changes,
            removes=lambda number: group.neighbours.partners(number) & deletes,
        )


class SchemaDrift(IllegalEventTrap):
    id = "schema-drift"
    summary = "A column's type, or the set of columns, changes between two rows without a DDL."
    protocols = _OF_IMAGES
    issues = ("pingcap/tiflow#12107", "pingcap/ticdc#6165")
    violates = ("INV-SCHEMA",)
    may_report = ("INV-OLD-IMAGE", "EXPECTED-EVENTS")
    requires = "two rows of one table between two DDLs, and a column of it that is in no index"
    consumer_action = "Rejects a row that does not match the schema it knows."

    def edit(self, group: EventGroup) -> Edit:
        versions = integers(group.events, "table_version")
        fits = group.rows() & np.isin(versions, list(group.metadata.drifted))
        return Edit(fits, lambda number: {"table_version": group.metadata.drifted[int(versions[number])]})
