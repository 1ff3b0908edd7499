"""Traps of a scenario's SQL: keys of rows and updates of them, and values of columns.

Conditions compare types without their parameters, because protocols differ in them. Values are the canonical
text that all decoders return; updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

from dataclasses import replace

from ticdc_producer.faults.trap import ScenarioTrap
from ticdc_producer.model.parameter import WITHOUT_AVRO, WITHOUT_REGISTRY
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


class ChangedDispatchColumn(ScenarioTrap):
    id = "changed-dispatch-column"
    summary = (
        "The events of a row are in several partitions: what decides the partition is not a key, and changes."
    )
    requires = (
        "the dispatch rule columns with a column outside of the key, and an update of that column; or the "
        "rule ts"
    )
    consumer_action = (
        "Takes the order of a row's events from their commit-ts, up to the resolved-ts of every partition; "
        "offsets of two partitions have no order."
    )
    coverage = seen_as("row-key", "partitions > 1")


class DeleteWithoutValue(ScenarioTrap):
    id = "delete-without-value"
    protocols = ("avro",)  # in the others a delete has a value
    summary = "A delete is a tombstone, a message without a value: its key alone says which row is gone."
    requires = "a delete"
    consumer_action = "Removes the row of the key, and neither skips nor rejects a message without a value."
    coverage = seen_as("event", "kind = 'row' and op = 'delete' and commit_ts = 0")  # its key has none


class UpdateAfterDelete(ScenarioTrap):
    id = "update-after-delete"
    profiles = ("new",)
    protocols = WITHOUT_AVRO  # it does not tell updates from inserts
    summary = "A row that was deleted comes again as an update, because TiDB had only marked it as deleted."
    requires = "a table with SOFTDELETE, a DELETE of a row, and an INSERT with its key"
    may_report = ("INV-ROW-STATE", "INV-OLD-IMAGE")
    consumer_action = "Applies an update of a row that does not exist as an insert."
    coverage = seen_as("known-row", "op = 'update' and deleted", needs=("commit-ts",))


class NoKeyTable(ScenarioTrap):
    id = "no-key-table"
    protocols = WITHOUT_REGISTRY  # TiCDC refuses force-replicate with Avro
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


_TEXTS = "type in ('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext')"
_TIMES = "type in ('time', 'datetime', 'timestamp')"
_DATES = "type in ('date', 'datetime', 'timestamp')"
_NO_DAY = "text rlike r'^(0000|\\d{4}-00|\\d{4}-\\d{2}-00)'"
_SIGNIFICANT = "length(trim(both '0' from regexp_replace(text, '[-.]', '')))"


class BigintUnsignedRange(ScenarioTrap):
    id = "bigint-unsigned-range"
    summary = "A BIGINT UNSIGNED holds 2^63 and more, up to 2^64-1."
    issues = ("apache/flink-cdc#798", "pingcap/tiflow#4420")
    requires = "a BIGINT UNSIGNED column with a value above 2^63-1"
    consumer_action = "Reads the column as an unsigned 64-bit integer or a decimal."
    coverage = seen_as("cell", "type = 'bigint unsigned' and number > 9223372036854775807", needs=("types",))


class BigIntegers(ScenarioTrap):
    id = "big-integers"
    summary = "An integer is beyond 2^53, where JSON readers that use floats lose digits."
    issues = ("pingcap/tiflow#12064", "pingcap/ticdc#6253", "pingcap/tidb#64864")
    requires = "a BIGINT column with a value beyond 2^53"
    consumer_action = "Parses integers as integers."
    coverage = seen_as("cell", "type like 'bigint%' and abs(number) > 9007199254740992", needs=("types",))


class DecimalPrecision(ScenarioTrap):
    id = "decimal-precision"
    summary = (
        "A DECIMAL has more digits than a float64 keeps, up to 65 of them with 30 after the decimal point."
    )
    issues = ("pingcap/tiflow#12064", "pingcap/ticdc#6253", "pingcap/tiflow#8490")
    requires = "a DECIMAL value with more than 17 digits"
    consumer_action = "Keeps the text or uses a decimal type; current TiCDC sends only a float64 in Debezium."
    coverage = seen_as("cell", f"type like 'decimal%' and {_SIGNIFICANT} > 17", needs=("types", "decimals"))


class FloatDigits(ScenarioTrap):
    id = "float-digits"
    summary = "The digits of a FLOAT depend on whether it is printed as a 32-bit or a 64-bit number."
    issues = ("pingcap/tiflow#8490", "pingcap/tidb#64864")
    requires = "a FLOAT value that is not a short binary fraction, such as 123.99"
    consumer_action = "Compares FLOAT values as 32-bit numbers."
    coverage = seen_as(
        "cell",
        "type like 'float%' and try_cast(text as float) <> try_cast(text as double)",
        needs=("types",),
    )


class EnumSetOrdinals(ScenarioTrap):
    id = "enum-set-ordinals"
    summary = "ENUM and SET are sent as ordinal and bit mask in one protocol and as names in another."
    issues = ("pingcap/tiflow#8491", "pingcap/tiflow#4790")
    requires = "ENUM values first, last and NULL; SET values empty and with all members"
    consumer_action = "Knows the members of the type, and that ordinals start at 1."
    coverage = seen_as(
        "cell",
        "type = 'enum' and number = 1",
        "type = 'enum' and number > 1",
        "type = 'enum' and value is null",
        "type = 'set' and number = 0",
        "type = 'set' and number > 0 and bit_count(number) > 1",
        needs=("types",),
    )


class BitWidth(ScenarioTrap):
    id = "bit-width"
    summary = "A BIT is sent as a number, from BIT(1) to all bits of BIT(64)."
    issues = ("pingcap/tiflow#8491", "pingcap/tiflow#4790")
    requires = "a BIT column of one bit and one of 64 with all bits set"
    consumer_action = "Reads BIT as an unsigned 64-bit integer."
    coverage = seen_as(
        "cell",
        "type = 'bit' and number = 1",
        "type = 'bit' and number = 18446744073709551615",
        needs=("types",),
    )


class BinaryAllBytes(ScenarioTrap):
    id = "binary-all-bytes"
    summary = (
        "A binary column holds every byte value, so it is not valid text in any charset except ISO-8859-1."
    )
    issues = ("pingcap/tiflow#7058", "pingcap/tiflow#11771")
    requires = "a BINARY, VARBINARY or BLOB column with all 256 byte values"
    consumer_action = (
        "Reverses the protocol's own encoding (escapes, ISO-8859-1, Base64) and keeps the bytes."
    )
    coverage = seen_as("cell", "length(value) >= 256 and different_bytes = 256", needs=("types",))


class TextCharsets(ScenarioTrap):
    id = "text-charsets"
    summary = "A text column holds characters outside of ASCII and outside of the Basic Multilingual Plane."
    issues = ("pingcap/tiflow#7058", "pingcap/tiflow#11771")
    requires = "a text value with a character of four UTF-8 bytes"
    consumer_action = "Reads text as UTF-8 and has room for four bytes per character."
    coverage = seen_as("cell", f"{_TEXTS} and text rlike r'[\\x{{10000}}-\\x{{10FFFF}}]'", needs=("types",))


class TimestampZone(ScenarioTrap):
    id = "timestamp-zone"
    summary = "TIMESTAMP is sent in the server's time zone without naming it, DATETIME as it was written."
    issues = ("pingcap/tiflow#1639", "pingcap/tiflow#10581", "pingcap/tiflow#12243", "pingcap/tiflow#10573")
    requires = "a TIMESTAMP and a DATETIME column with values"
    consumer_action = "Has the server's time zone configured, and never shifts DATETIME."
    coverage = seen_as(
        "cell",
        "type = 'timestamp' and value is not null",
        "type = 'datetime' and value is not null",
        needs=("types",),
    )


class ZeroDates(ScenarioTrap):
    id = "zero-dates"
    summary = "A date is 0000-00-00 or has month or day 0, which exists in no calendar."
    issues = ("apache/flink-cdc#1774", "apache/flink-cdc#3827", "tidb-incubator/TiBigData#270")
    requires = "a zero date, in an SQL mode that allows it"
    consumer_action = "Keeps the text, or deliberately maps it to NULL."
    coverage = seen_as("cell", f"{_DATES} and {_NO_DAY}", needs=("types",))


class EarlyYears(ScenarioTrap):
    id = "early-years"
    summary = "A date has a year before 1000, where calendars and formats differ."
    issues = ("apache/flink-cdc#1774", "apache/flink-cdc#3827", "apache/flink-cdc#4096")
    requires = "a date before year 1000"
    consumer_action = "Uses the proleptic Gregorian calendar and four-digit years."
    coverage = seen_as("cell", f"{_DATES} and text < '1000' and not {_NO_DAY}", needs=("types",))


class TimeRange(ScenarioTrap):
    id = "time-range"
    summary = "A TIME is negative or longer than a day, up to 838:59:59."
    issues = ("apache/flink-cdc#1774", "apache/flink-cdc#3827")
    requires = "a negative TIME and one above 24 hours"
    consumer_action = "Reads TIME as a duration, not as a time of day."
    coverage = seen_as(
        "cell",
        "type = 'time' and text like '-%'",
        "type = 'time' and try_cast(regexp_replace(text, r'^-?(\\d+).*', r'\\1') as int) >= 24",
        needs=("types",),
    )


class FractionalSeconds(ScenarioTrap):
    id = "fractional-seconds"
    summary = "Times have zero to six digits of fractional seconds, depending on the column."
    issues = ("apache/flink-cdc#3827", "tidb-incubator/TiBigData#270")
    requires = "time columns without and with six digits of fractional seconds"
    consumer_action = "Derives the number of digits from the column, not from a fixed pattern."
    coverage = seen_as(
        "cell",
        f"{_TIMES} and text not like '%.%'",
        f"{_TIMES} and text rlike r'[.]\\d{{6}}$'",
        needs=("types",),
    )


class NullDefaultTriad(ScenarioTrap):
    id = "null-default-triad"
    summary = "A column with a default value holds NULL, the empty text and the text 'null'."
    issues = ("pingcap/tiflow#4736", "pingcap/tiflow#12474", "pingcap/ticdc#5605", "pingcap/ticdc#3959")
    requires = "a nullable text column with the values NULL, '' and 'null'"
    consumer_action = "Distinguishes the three, and never replaces NULL with the default."
    coverage = replace(
        seen_as(
            "cell",
            f"{_TEXTS} and value is null",
            f"{_TEXTS} and length(value) = 0",
            f"{_TEXTS} and text = 'null'",
            needs=("types",),
        ),
        in_one_scope=True,
    )


class UnsignedNull(ScenarioTrap):
    id = "unsigned-null"
    summary = "An UNSIGNED integer column is NULL."
    issues = ("pingcap/tiflow#4736", "pingcap/tiflow#12474")
    requires = "a nullable UNSIGNED column with NULL"
    consumer_action = "Tests for NULL before it converts the value."
    coverage = seen_as("cell", "type like '%unsigned' and value is null", needs=("types",))
