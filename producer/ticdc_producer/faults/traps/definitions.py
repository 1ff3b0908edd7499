"""Traps of definitions: DDLs, tables and columns of a scenario's SQL, and settings of the changefeed."""

from __future__ import annotations

from types import MappingProxyType

from ticdc_producer.faults.trap import ChangefeedTrap, ScenarioTrap
from ticdc_producer.model.parameter import WITHOUT_AVRO
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
    protocols = ("open-protocol", "craft")
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


_LARGE_MESSAGES = "sink.kafka-config.large-message-handle.large-message-handle-option"


class IdlePartition(ChangefeedTrap):
    id = "idle-partition"
    summary = "A partition receives DDL and resolved events, but never a row."
    changefeed_settings = MappingProxyType({"sink.dispatchers": [{"matcher": ["*.*"], "partition": "table"}]})
    requires = "fewer tables than partitions, and resolved events"
    consumer_action = "Uses the minimum of the resolved-ts of all partitions, including those without rows."
    coverage = seen_as("partition", "resolved > 0 and rows = 0", needs=("resolved",))


class RawKeyUpdate(ChangefeedTrap):
    id = "raw-key-update"
    summary = "An update that changes a primary or unique key is sent as one event with both images."
    issues = ("pingcap/tiflow#11297", "alibaba/canal#3152", "pingcap/tiflow#11270")
    protocols = WITHOUT_AVRO  # its messages have no old image
    changefeed_settings = MappingProxyType({"sink.kafka-config.output-raw-change-event": True})
    may_report = ("INV-KEY-UPDATE-SPLIT", "INV-KEY-PARTITION")
    requires = "an update of a non-clustered primary key or of a unique key"
    consumer_action = "Also removes the row with the old key if the key differs between the two images."
    coverage = seen_as("event", "kind = 'row' and op = 'update' and size(key_change) > 0")


class HandleKeyOnly(ChangefeedTrap):
    id = "handle-key-only"
    summary = "A row above max-message-bytes is sent with its handle key columns only."
    protocols = ("open-protocol", "canal-json")
    issues = ("pingcap/tiflow#9153", "pingcap/tiflow#11396", "pingcap/tiflow#9490")
    changefeed_settings = MappingProxyType({_LARGE_MESSAGES: "handle-key-only"})
    requires = "a row larger than max-message-bytes whose handle key fits"
    consumer_action = (
        "Reads the row from the database at its commit-ts, and never treats the missing columns as NULL."
    )
    coverage = seen_as("row", "handle_key_only <> 0 and not claim_check")


class ClaimCheck(ChangefeedTrap):
    id = "claim-check"
    summary = "A row above max-message-bytes is stored in external storage; the message names the object."
    protocols = ("open-protocol", "canal-json")
    issues = ("pingcap/tiflow#9153", "pingcap/tiflow#11396", "pingcap/tiflow#12232")
    changefeed_settings = MappingProxyType({_LARGE_MESSAGES: "claim-check"})
    requires = "a row larger than max-message-bytes, and claim-check-storage-uri"
    consumer_action = "Fetches the object that the message names, and decodes it instead of the message."
    coverage = seen_as("row", "handle_key_only <> 0 and claim_check")
