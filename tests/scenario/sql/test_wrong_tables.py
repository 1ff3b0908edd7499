"""Invalid CREATE, DROP and RENAME statements, with the full text of their messages."""

from __future__ import annotations

import pytest

from tests.scenario.sql.wrong import Wrong, check

WRONG = [
    Wrong("create table x (id int", "SQL does not parse: expected ) near the end of the statement"),
    Wrong("create table x (a)", "SQL does not parse: expected a column type near ')'"),
    Wrong("create table x (a int, a int)", "Duplicate column name 'a'", "a"),
    Wrong("create table x (a int, key (nope))", "Key column 'nope' doesn't exist in table", "nope"),
    Wrong("create table x (a int, key k (a), key k (a))", "Duplicate key name 'k'"),
    Wrong("create table x (a int primary key, b int primary key)", "Multiple primary keys defined"),
    Wrong(
        "create table x (a text primary key)",
        "BLOB/TEXT column 'a' used in key specification without a key length",
        "a",
    ),
    Wrong(
        "create table x (a int, key (a(2)))",
        (
            "Incorrect prefix key; the used key part isn't a string, or the used length is longer "
            "than the key part"
        ),
        "a",
    ),
    Wrong(
        "create table x (a int auto_increment, b int auto_increment)",
        "Incorrect table definition; there can be only one auto column",
        "b",
    ),
    Wrong("create table x (a int null primary key)", "All parts of a PRIMARY KEY must be NOT NULL", "a"),
    Wrong(
        "create table x (a varchar(800), unique (a))",
        "Specified key was too long (3200 bytes); max key length is 3072 bytes",
        "a",
    ),
    Wrong("create table x (a date) ttl = b + interval 1 day", "Unknown column 'b' in 'TTL config'", "b"),
    Wrong(
        "create table x (a time) ttl = a + interval 1 day",
        "Field 'a' is of a not supported type for TTL config, expect DATETIME, DATE or TIMESTAMP",
        "a",
    ),
    Wrong(
        "create table x (a year(2))",
        "SQL does not parse: Supports only YEAR or YEAR(4) column near 'year'",
    ),
    Wrong(
        "create table x (a int, constraint c check (a > 1), constraint c check (a < 5))",
        "Duplicate check constraint name 'c'",
    ),
    Wrong("create table x (a int primary key default null)", "Invalid default value for 'a': NULL", "a"),
    Wrong("create table `x ` (a int)", "Incorrect table name 'x '", value="x "),
    Wrong("create database `d `", "Incorrect database name 'd '", value="d "),
    Wrong("create table x (`a ` int)", "Incorrect column name 'a '", "a "),
    Wrong("create table x (a bit(0))", "SQL does not parse: BIT has 1 to 64 bits near 'bit'"),
    Wrong(
        "create table x (a float(54))",
        "SQL does not parse: Incorrect column specifier: FLOAT has at most 53 bits near ')'",
    ),
    Wrong("create table x (a int not null default null)", "Invalid default value for 'a': NULL", "a"),
    Wrong(
        "create table x (a tinyint default 300)",
        "Invalid default value for 'a': Out of range value for column 'a': '300'",
        "a",
        "300",
    ),
    Wrong(
        "create table x (a int default current_timestamp)",
        "Invalid default value for 'a': CURRENT_TIMESTAMP does not fit its type",
        "a",
    ),
    Wrong(
        "create table x (a int on update current_timestamp)", "Invalid ON UPDATE clause for 'a' column", "a"
    ),
    Wrong("create table x (a text default 'x')", "BLOB, TEXT and JSON columns have no default: 'a'", "a"),
    Wrong(
        "create table x (a varchar(16384))",
        "Column length too big for column 'a' (max = 16383); use BLOB or TEXT instead",
        "a",
    ),
    Wrong(
        "create table x (a varbinary(65536))",
        "Column length too big for column 'a' (max = 65535); use BLOB or TEXT instead",
        "a",
    ),
    Wrong(
        "create table x (a varchar)",
        "SQL does not parse: a VARCHAR or VARBINARY needs a length near 'varchar'",
    ),
    Wrong(
        "create table x (a decimal(66,1))",
        "SQL does not parse: DECIMAL(66,1) is not allowed: at most (65,30) near 'decimal'",
    ),
    Wrong("create table x (a set('a,b'))", "a SET member must not contain a comma: 'a,b'", "", "a,b"),
    Wrong("create table x (a enum('a','a'))", "Column 'a' has duplicated value 'a' in ENUM", "a"),
    Wrong(
        "create table x (a varchar(5) charset ascii collate utf8mb4_bin)",
        "collation utf8mb4_bin does not belong to charset ascii",
        "a",
    ),
    Wrong("create table x (a int as (b), b int as (a))", "Generated column 'a' cannot refer to 'b'", "a"),
    Wrong(
        "create table x (a datetime as (now()))",
        "Expression of generated column 'a' contains a disallowed function",
        "a",
    ),
    *(
        Wrong(
            f"create table x (t timestamp, a {kind} as ({call}))",
            "Expression of generated column 'a' contains a disallowed function",
            "a",
        )
        for kind, call in (("datetime(3)", "now(3)"), ("bigint", "unix_timestamp(t)"))
    ),
    Wrong(
        "create table x (a int as (1), primary key (a))",
        ("'Defining a virtual generated column as primary key' is not supported for generated columns"),
        "a",
    ),
    Wrong(
        "create table x (a int auto_random primary key)",
        "Invalid auto random: auto_random option must be defined on `bigint` column",
        "a",
    ),
    Wrong("create table t (a int)", "Table 'test.t' already exists", "", "test.t"),
    Wrong(
        "create table nodb.x (a int)",
        "Unknown database 'nodb' (allowed: test; CREATE DATABASE makes another)",
        "",
        "nodb",
    ),
    Wrong(
        "create table x (id int primary key, r int) partition by hash (r) partitions 2",
        "A PRIMARY KEY must include all columns in the table's partitioning function",
    ),
    Wrong(
        (
            "create table x (r int) partition by range (r) (partition a values less than (5),"
            " partition b values less than (5))"
        ),
        "VALUES LESS THAN value must be strictly increasing for each partition",
    ),
    Wrong(
        "create table x (r int) partition by range (r) (partition a values in (5))",
        "Only LIST PARTITIONING can use VALUES IN in partition definition",
    ),
    Wrong(
        (
            "create table x (r int) partition by list (r) (partition a values in (5),"
            " partition b values in (5))"
        ),
        "Multiple definition of same constant in list partitioning",
    ),
    Wrong(
        "create table x (r varchar(9)) partition by hash (r) partitions 2",
        (
            "Field 'r' is of a not allowed type for this type of partitioning (RANGE COLUMNS, LIST "
            "COLUMNS and KEY take more types)"
        ),
        "r",
    ),
    Wrong(
        "create table x (r int) partition by hash (r) partitions 0",
        "Number of partitions = 0 is not an allowed value",
        "",
        "0",
    ),
    Wrong("create index u on t (v)", "Duplicate key name 'u'"),
    Wrong("drop table nope", "Table 'test.nope' doesn't exist (did you mean 'notes'?)", "", "test.nope"),
    Wrong("drop view t", "'test.t' is not VIEW", "", "test.t"),
    Wrong("drop sequence nope", "Unknown SEQUENCE: 'test.nope'", "", "test.nope"),
    Wrong(
        "drop database nope",
        "Unknown database 'nope' (allowed: test; CREATE DATABASE makes another)",
        "",
        "nope",
    ),
    Wrong("create database test", "Can't create database 'test'; database exists", "", "test"),
    Wrong(
        "drop database test; insert into t values (1)",
        "No database selected (USE one, or write database.table)",
    ),
    Wrong("rename table t to two", "Table 'test.two' already exists", "", "test.two"),
    Wrong(
        "drop table t; drop table t",
        "Table 'test.t' doesn't exist (allowed: h, nn, notes, p, two)",
        "",
        "test.t",
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.statement[:50])
def test_the_message_names_cause_and_position(wrong: Wrong) -> None:
    check(wrong)
