"""Illegal traps: row events whose content contradicts other events."""

from __future__ import annotations

import numpy as np

from ticdc_producer.faults.event_traps import Columns, integers
from ticdc_producer.faults.illegal_event import AFTER_ORIGINAL, Edit, EventGroup, IllegalEventTrap
from ticdc_producer.model.event import Op


class ChangedDuplicate(IllegalEventTrap):
    id = "changed-duplicate"
    summary = "A row event is delivered again with the same row key and commit-ts but other values."
    violates = ("INV-DUP-CONTENT",)
    may_report = ("INV-COLLAPSE", "INV-OLD-IMAGE", "INV-ROW-STATE", "INV-TXN-DELETE-FIRST", "EXPECTED-EVENTS")
    requires = "a row event with a column that is not part of the key"
    consumer_action = "Stops, because one commit cannot have two contents."

    def edit(self, group: EventGroup) -> Edit:
        def changes(number: int) -> Columns:
            return {"after": group.value("before", number), "delivery_no": AFTER_ORIGINAL}

        return Edit(group.differs(), changes, adds=True)


class StaleBeforeImage(IllegalEventTrap):
    id = "stale-before-image"
    summary = "The old image of an update or delete differs from the row that the previous change left."
    protocols = ("open-protocol", "craft", "canal-json", "debezium")
    issues = ("pingcap/tiflow#2758", "pingcap/tiflow#10803")
    violates = ("INV-OLD-IMAGE",)
    may_report = ("EXPECTED-EVENTS",)
    requires = "an update or delete, with old values, of a row whose previous change is in the stream"
    consumer_action = "Trusts its own state, not the old image, and reports the difference."

    def edit(self, group: EventGroup) -> Edit:
        return Edit(group.differs(), lambda number: {"before": group.value("after", number)})


class Uncollapsed(IllegalEventTrap):
    id = "uncollapsed"
    summary = "A transaction's changes of one row are sent one by one instead of as their net change."
    violates = ("INV-COLLAPSE",)
    may_report = ("INV-OLD-IMAGE", "INV-ROW-STATE", "INV-TXN-DELETE-FIRST", "EXPECTED-EVENTS")
    requires = "an update"
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
    protocols = ("open-protocol", "craft", "canal-json", "debezium")
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
    requires = "a split update, that is, a delete and an insert with one commit-ts in one table"
    consumer_action = "Also removes the row with the old key if the key differs between the two images."

    def edit(self, group: EventGroup) -> Edit:
        deleted, deletes = group.neighbours.deleted_half, group.rows(Op.DELETE)

        def changes(number: int) -> Columns:
            return {"op": int(Op.UPDATE), "before": group.value("before", int(deleted[number]))}

        return Edit(
            group.rows(Op.INSERT) & (deleted >= 0),
            changes,
            removes=lambda number: group.neighbours.partners(number) & deletes,
        )


class SchemaDrift(IllegalEventTrap):
    id = "schema-drift"
    summary = "A column's type, or the set of columns, changes between two rows without a DDL."
    protocols = ("open-protocol", "craft", "canal-json", "debezium")
    issues = ("pingcap/tiflow#12107", "pingcap/ticdc#6165")
    violates = ("INV-SCHEMA",)
    may_report = ("INV-OLD-IMAGE", "EXPECTED-EVENTS")
    requires = "two rows of one table between two DDLs"
    consumer_action = "Rejects a row that does not match the schema it knows."

    def edit(self, group: EventGroup) -> Edit:
        versions = integers(group.events, "table_version")
        fits = group.rows() & np.isin(versions, list(group.facts.drifted))
        return Edit(fits, lambda number: {"table_version": group.facts.drifted[int(versions[number])]})
