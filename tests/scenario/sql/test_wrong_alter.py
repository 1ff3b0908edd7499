"""Invalid ALTER TABLE statements, with the full text of their messages."""

from __future__ import annotations

import pytest

from tests.scenario.sql.wrong import Wrong, check

WRONG = [
    Wrong("alter table p drop partition nope", "Unknown partition 'nope' in table 'p'", "", "nope"),
    Wrong("alter table p drop partition p0, p1", "Cannot remove all partitions, use DROP TABLE instead"),
    Wrong(
        "alter table p add partition (partition p2 values less than (15))",
        "VALUES LESS THAN value must be strictly increasing for each partition",
    ),
    Wrong("alter table t truncate partition p0", "Partition management on a not partitioned table: test.t"),
    Wrong("alter table h drop partition p0", "DROP PARTITION can only be used on RANGE/LIST partitions"),
    Wrong(
        "alter table p exchange partition p0 with table t",
        "Tables have different definitions, or both have partitions",
    ),
    Wrong("alter table t add column v int", "Duplicate column name 'v'", "v"),
    Wrong(
        "alter table t add column x int after nope",
        (
            "Unknown column 'nope' in table 't' (allowed: asc_, b, bin, d, dt, e, f, id, j, s, ti, "
            "tm, ts, u, v, y)"
        ),
        "nope",
    ),
    Wrong(
        "alter table t add column x int primary key", "unsupported add column 'x' constraint PRIMARY KEY", "x"
    ),
    Wrong(
        "alter table t drop column nope",
        (
            "Unknown column 'nope' in table 't' (allowed: asc_, b, bin, d, dt, e, f, id, j, s, ti, "
            "tm, ts, u, v, y)"
        ),
        "nope",
    ),
    Wrong(
        "alter table two drop column b",
        (
            "can't drop column b with composite index covered or Primary Key covered now (drop the "
            "index first)"
        ),
        "b",
    ),
    Wrong(
        "alter table t drop column id",
        (
            "can't drop column id with composite index covered or Primary Key covered now"
            " (a column of the primary key cannot be dropped)"
        ),
        "id",
    ),
    Wrong("alter table p drop column r", "Cannot drop 'r': the partitions depend on it", "r"),
    Wrong("alter table t drop index nope", "index 'nope' does not exist"),
    Wrong(
        "alter table t drop primary key",
        "Unsupported drop primary key when the table is using clustered index",
    ),
    Wrong(
        "alter table nn drop index ua",
        (
            "test.nn loses its last primary key or not-null unique key: TiCDC stops"
            " the changefeed here (keep a key, or set force-replicate)"
        ),
    ),
    Wrong("alter table t modify u int not null", "Column 'u' cannot be null", "u", "NULL"),
    Wrong(
        "alter table t modify id varchar(5)",
        "Unsupported modify column: this column has primary key flag",
        "id",
    ),
    Wrong("alter table t rename column v to id", "Duplicate column name 'id'", "id"),
    Wrong("alter table t rename to two", "Table 'test.two' already exists", "", "test.two"),
    Wrong("alter table t convert to charset latin1", "Unsupported modify charset from utf8mb4 to latin1"),
    Wrong(
        "alter table notes modify note varchar(5)",
        "Data too long (at most 5 characters) for column 'note': 'written'",
        "note",
        "written",
    ),
    Wrong("alter table t drop column idd", "Unknown column 'idd' in table 't' (did you mean 'id'?)", "idd"),
    Wrong(
        "alter table t add column x int, drop column nope",
        (
            "Unknown column 'nope' in table 't' (allowed: asc_, b, bin, d, dt, e, f, id, j, s, ti, "
            "tm, ts, u, v, x, y)"
        ),
        "nope",
    ),
    Wrong(
        "alter table p reorganize partition p0 into (partition x values less than (5))",
        (
            "Reorganize of range partitions cannot change total ranges except for last"
            " partition where it can extend the range"
        ),
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.statement[:50])
def test_the_message_names_cause_and_position(wrong: Wrong) -> None:
    check(wrong)
