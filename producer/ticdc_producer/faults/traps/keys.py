"""Traps of a scenario's SQL: keys, and updates of them."""

from __future__ import annotations

from ticdc_producer.faults.trap import ScenarioTrap
from ticdc_producer.model.profile import WITHOUT_AVRO
from ticdc_producer.model.trap_coverage import seen_as


class KeyUpdate(ScenarioTrap):
    id = "key-update"
    summary = "The primary key of a row changes, so its delete and its insert may be in two partitions."
    issues = ("pingcap/tiflow#11297", "alibaba/canal#3152", "pingcap/tiflow#6269", "pingcap/tiflow#11270")
    requires = "an update of a primary key"
    consumer_action = (
        "Applies the delete and the insert as two rows, once the resolved-ts of every partition has reached "
        "them."
    )
    coverage = seen_as("moved-row", "left", needs=("commit-ts",))


class UniqueKeyUpdate(ScenarioTrap):
    id = "unique-key-update"
    summary = (
        "A unique key other than the primary key changes, so the update is sent as a delete and an insert "
        "of one row."
    )
    issues = ("pingcap/tiflow#6269", "pingcap/tiflow#11270")
    requires = "an update of a unique key that leaves the handle key unchanged"
    consumer_action = "Treats a delete and an insert of one row with one commit-ts as one change."
    coverage = seen_as("row-commit", "deleted and inserted", needs=("commit-ts",))


class KeySwap(ScenarioTrap):
    id = "key-swap"
    summary = "Two rows exchange their key values in one transaction."
    issues = ("pingcap/tiflow#11297", "alibaba/canal#3152")
    requires = "two rows that swap the values of a primary or unique key in one transaction"
    consumer_action = "Applies all deletes of a transaction before its inserts."
    coverage = seen_as("swapped-keys", "ways > 1", needs=("commit-ts",))


class DeleteDispatch(ScenarioTrap):
    id = "delete-dispatch"
    summary = "A delete is dispatched by its old image, to the partition of the row's other changes."
    issues = ("pingcap/tiflow#10712", "alibaba/canal#959", "alibaba/canal#1507")
    requires = "deletes of rows with several keys, and the dispatch rule index-value or columns"
    consumer_action = "Expects a row's deletes in the partition of its inserts."
    coverage = seen_as("event", "first_row and op = 'delete' and by_value", needs=("original names",))


class NoKeyTable(ScenarioTrap):
    id = "no-key-table"
    protocols = WITHOUT_AVRO  # TiCDC refuses force-replicate with it
    summary = (
        "A table without a primary or unique key is replicated, and a repeated insert cannot be "
        "distinguished from a second row."
    )
    issues = ("pingcap/tiflow#994", "pingcap/tiflow#8529", "apache/paimon#2112")
    requires = "a table without a handle key, and force-replicate=true"
    consumer_action = (
        "Expects no key columns, and decides explicitly whether an equal row with the same commit-ts is a "
        "second row or a duplicate."
    )
    coverage = seen_as("row", "key_size <= 0")
