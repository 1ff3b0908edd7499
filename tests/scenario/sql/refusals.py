"""SQL that is refused, by its name in the error; ``docs/sql.md`` lists it. TiDB runs a part of it."""

from __future__ import annotations

from typing import NamedTuple


class Refusal(NamedTuple):
    """A construct as the error names it, and a statement that uses it."""

    named: str
    sql: str
    before: str = ""


REFUSED: dict[str, tuple[Refusal, ...]] = {
    "statements": (
        Refusal("WITH in LOAD DATA", "load data local infile 'x' into table t with detached"),
        Refusal("IMPORT", "import into t from 'x'"),
        Refusal("BATCH of several tables", "batch on test.t.id limit 1 delete t from t join u using (id)"),
        Refusal("BATCH by _tidb_rowid", "batch limit 1 delete from x", "create table x (a int)"),
        Refusal("FLASHBACK TABLE", "flashback table t to x"),
        Refusal("RECOVER TABLE", "recover table t"),
        Refusal("COMMIT RELEASE", "commit release"),
    ),
    "expressions": (
        Refusal("VERSION", "delete from t where v = (select version())"),
        Refusal("COMPRESS", "insert into t (id, v) values (1, compress('a'))"),
        Refusal("_tidb_rowid", "delete from x where _tidb_rowid = 1", "create table x (a int)"),
        Refusal("the variable @@version", "update t set v = @@version"),
        Refusal(
            "SET_VAR(sql_mode) in a hint",
            "insert /*+ set_var(sql_mode = '') */ into t (id, v) values (1, 'a')",
        ),
    ),
    "definitions": (
        Refusal("a VECTOR index", "create table x (a vector(3), vector index ((vec_l2_distance(a))))"),
        Refusal(
            "INTERVAL in PARTITION BY with partitions",
            "create table x (a int) partition by range (a) interval (5) first partition less than (5) "
            "last partition less than (5) (partition p values less than (5))",
        ),
        Refusal("ALTER TABLE … MERGE FIRST", "alter table t merge first partition less than (20)"),
        Refusal("ALTER TABLE … SPLIT MAXVALUE", "alter table t split maxvalue partition less than (90)"),
    ),
    "variables": (
        Refusal("the variable div_precision_increment", "set div_precision_increment = 6"),
        Refusal("the variable tidb_enable_check_constraint", "set global tidb_enable_check_constraint = on"),
    ),
}
"""By subject, SQL that TiDB runs."""
REJECTED_BY_TIDB: tuple[Refusal, ...] = (
    Refusal(
        "CREATE PROCEDURE with a body that ends at its first ';'",
        "create procedure p() begin delete from t; end",
    ),
    Refusal("CALL", "call p()"),
    Refusal("LOAD DATA without LOCAL", "load data infile 'x' into table t"),
    Refusal("SELECT … INTO a variable", "select max(id) into @n from t"),
    Refusal("START TRANSACTION READ ONLY", "start transaction read only"),
    Refusal("SET TRANSACTION", "set transaction read only"),
    Refusal("XA", "xa start 'x'"),
    Refusal("FLUSH TABLES WITH READ LOCK", "flush tables with read lock"),
    Refusal("ALTER VIEW", "alter view w as select 2"),
    Refusal(
        "a row alias in INSERT",
        "insert into t (id, v) values (1, 'b') as new on duplicate key update v = new.v",
    ),
    Refusal("INTERSECT ALL", "insert into t (id, v) select 5, 'x' intersect all select 6, 'y'"),
    Refusal("CREATE TABLE … AS SELECT", "create table x as select 1"),
    Refusal("CREATE TABLE … AS SELECT", "create table x (a int) select 1 as a"),
    Refusal("the column type GEOMETRY", "create table x (a geometry)"),
    Refusal("the column type POINT", "create table x (a point)"),
    Refusal("the charset utf16", "create table x (a varchar(5) charset utf16)"),
    Refusal("the collation utf8mb4_tolkien_ci", "create table x (a varchar(5) collate utf8mb4_tolkien_ci)"),
    Refusal("the column attribute INVISIBLE", "create table x (a int invisible)"),
    Refusal("CREATE FULLTEXT INDEX", "create fulltext index i on t (v)"),
    Refusal("a SPATIAL index", "create table x (a int, spatial key (a))"),
    Refusal("CREATE SPATIAL INDEX", "create spatial index i on t (v)"),
    Refusal("an index on the expression", "create index i on t ((d + 1))"),
    Refusal(
        "DROP PARTITION together with other changes", "alter table p add column x int, drop partition p0"
    ),
    Refusal("RENAME TO together with other changes", "alter table t rename x, add column z int"),
)
"""SQL of MySQL that TiDB rejects, too."""
