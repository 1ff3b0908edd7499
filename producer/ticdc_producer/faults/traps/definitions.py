"""Traps of a scenario's SQL: DDLs, and the definitions of tables and columns."""

from __future__ import annotations

from ticdc_producer.faults.trap import ScenarioTrap
from ticdc_producer.model.trap_coverage import CoverageRule, Feature, seen_as

_OF_TABLE = r"query rlike r'(?i)^\s*(create|alter)\s+table\b'"
_VIRTUAL = r"query rlike r'(?i)\bvirtual\b'"
_GENERATED_BY_DEFAULT = r"query rlike r'(?i)\bas\s*\(' and not query rlike r'(?i)\bstored\b'"


class SplitDDL(ScenarioTrap):
    id = "split-ddl"
    summary = "One statement on several tables is sent as several DDL events."
    issues = ("pingcap/tiflow#12286", "pingcap/ticdc#4447")
    requires = "RENAME TABLE or DROP TABLE of more than one table (Debezium with output-ddl=true)"
    consumer_action = (
        "Executes DDLs one by one in their order, and does not treat an equal commit-ts or text as a "
        "duplicate."
    )
    coverage = seen_as("ddls-of-commit", "parts > 1")


class AddedColumnDefault(ScenarioTrap):
    id = "added-column-default"
    summary = "After ADD COLUMN with a default, earlier rows have the default in their old image."
    issues = ("pingcap/tiflow#10803", "pingcap/tiflow#2758", "pingcap/ticdc#5605")
    requires = "ADD COLUMN with a default, then an update of an earlier row"
    consumer_action = "Sets the default in its own existing rows when it executes the DDL."
    coverage = seen_as("known-row", "op in ('update', 'delete') and filled", needs=("old values",))


class VirtualColumn(ScenarioTrap):
    id = "virtual-column"
    summary = "A virtual generated column is part of the table but of no message."
    issues = ("pingcap/tiflow#11704", "pingcap/tiflow#10838")
    requires = "a table with a virtual generated column"
    consumer_action = "Computes or omits the column, and does not rely on the number of columns."
    coverage = seen_as("ddl", f"{_OF_TABLE} and ({_VIRTUAL} or ({_GENERATED_BY_DEFAULT}))")


class ColumnFlags(ScenarioTrap):
    id = "column-flags"
    summary = (
        "A column's flags mark handle key, unique key, unsigned, binary, nullable and generated columns."
    )
    protocols = ("open-protocol", "craft")  # the flags of the others are those of keys, or none
    issues = ("pingcap/ticdc#1227",)
    requires = (
        "columns with different flags, among them a unique key other than the handle key and a stored "
        "generated column"
    )
    consumer_action = "Tests the bits of the flag, and does not compare the number."
    coverage = seen_as(
        "cell",
        "flag & 16 <> 0 and flag & 2 = 0",  # ColumnFlag.UNIQUE_KEY without HANDLE_KEY
        "flag & 4 <> 0",  # GENERATED
        "flag & 128 <> 0",  # UNSIGNED
        "flag & 64 <> 0",  # NULLABLE
        needs=("flags",),
    )


class SchemaChange(ScenarioTrap):
    id = "schema-change"
    summary = "Rows with the old schema precede a DDL, and rows with the new schema follow it."
    issues = ("pingcap/tiflow#12107", "pingcap/tiflow#10678", "pingcap/ticdc#6165")
    requires = "rows of one table before and after a DDL that changes its columns"
    consumer_action = "Decodes each row by its own columns, and switches the table's schema at the DDL."
    kafka_consumer = (
        "Panics on a Canal-JSON backlog of several partitions that it reads one after the other, because it "
        "uses cached table metadata until the DDL of partition 0 comes."
    )
    coverage = seen_as("table-columns", "changed")


class PartitionedTable(ScenarioTrap):
    id = "partitioned-table"
    summary = "Rows of one table come from several physical tables, each of which is ordered on its own."
    issues = ("pingcap/ticdc#5508", "pingcap/ticdc#3040", "pingcap/tiflow#11947", "pingcap/tiflow#11829")
    requires = "a partitioned table with rows in at least two of its partitions"
    consumer_action = (
        "Sorts by commit-ts up to the resolved-ts, and identifies the table by name, not by table id."
    )
    coverage = seen_as("table-ids", "parts > 1", needs=("table ids",))


class ExchangePartition(ScenarioTrap):
    id = "exchange-partition"
    summary = "EXCHANGE PARTITION swaps the rows of a partition and of a table without any row event."
    issues = ("pingcap/ticdc#2189", "pingcap/tiflow#11874")
    requires = "ALTER TABLE … EXCHANGE PARTITION (Debezium with output-ddl=true)"
    consumer_action = "Executes the DDL on both tables."
    coverage = seen_as("ddl", r"query rlike r'(?i)\bexchange\s+partition\b'")


class RenameSwap(ScenarioTrap):
    id = "rename-swap"
    summary = "RENAME TABLE swaps the names of tables."
    issues = ("pingcap/ticdc#1171", "pingcap/ticdc#4447", "pingcap/tiflow#12286")
    requires = "a RENAME of tables to each other's names (Debezium with output-ddl=true)"
    consumer_action = (
        "Executes the parts in their order, and assigns each row to the table that had its name at its "
        "commit-ts."
    )
    coverage = seen_as("ddls-of-commit", "arrays_overlap(old, new)")


class DDLZoo(ScenarioTrap):
    id = "ddl-zoo"
    summary = (
        "The stream has DDLs of many kinds, including those without a table and those that change no column."
    )
    issues = (
        "pingcap/ticdc#4454",
        "pingcap/ticdc#2189",
        "pingcap/ticdc#1171",
        "pingcap/ticdc#4447",
        "pingcap/tiflow#11874",
        "pingcap/tiflow#12286",
    )
    requires = "DDLs of at least five types, among them one of a database (Debezium with output-ddl=true)"
    consumer_action = "Accepts every DDL where it occurs, and ignores those that it does not need."
    coverage = CoverageRule(
        (
            Feature("ddls-of-topic", "kinds >= 5"),
            Feature("ddl", r"query rlike r'(?i)^\s*\w+\s+(database|schema)\b'"),
        )
    )
