"""What to write instead of SQL that this tool does not run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ticdc_producer.errors import ScenarioError, UnsupportedSQL

GENERAL = "docs/sql.md lists the SQL that runs: write it with statements of that list, or leave it out"
_ADVICE: tuple[tuple[str, str], ...] = (
    ("CREATE USER", "leave it out: users and rights reach no changefeed"),
    ("GRANT", "leave it out: users and rights reach no changefeed"),
    ("REVOKE", "leave it out: users and rights reach no changefeed"),
    ("CALL", "write the statements of the procedure: TiDB has no stored procedures"),
    ("LOAD", "use a data step with format csv, or INSERT statements"),
    ("IMPORT", "use a data step, or INSERT statements"),
    ("XA", "write BEGIN … COMMIT: TiDB has no XA transactions"),
    ("BATCH", "write the statement without BATCH, or one statement for each part"),
    ("EXPLAIN ANALYZE", "write EXPLAIN, or the statement itself: EXPLAIN ANALYZE runs it"),
    ("FLASHBACK", "write CREATE TABLE and INSERT"),
    ("RECOVER", "write CREATE TABLE and INSERT"),
    ("ADMIN", "leave it out: it changes nothing that a changefeed sends"),
    ("FLUSH", "leave it out: it changes nothing that a changefeed sends"),
    ("DO is", "leave it out: it only computes"),
    ("ALTER VIEW", "write CREATE OR REPLACE VIEW: TiDB has no ALTER VIEW"),
    ("GLOBAL TEMPORARY", "write CREATE TEMPORARY TABLE, whose rows outlive the transaction"),
    ("AS SELECT", "write CREATE TABLE with columns, then INSERT … SELECT: TiDB has no CREATE TABLE … SELECT"),
    ("column type GEOMETRY", "use a BLOB column: TiDB has no spatial types"),
    ("column type POINT", "use a BLOB column: TiDB has no spatial types"),
    ("SPATIAL", "leave the index out: TiDB has no spatial indexes"),
    ("FULLTEXT", "leave the index out: it reaches no consumer"),
    ("VECTOR index", "leave the index out: it reaches no consumer"),
    ("GLOBAL index", "leave GLOBAL out, and add the partition columns to the key if it is unique"),
    ("SHARD_ROW_ID_BITS", "leave it out: it scatters row ids, which TiDB alone knows"),
    ("the column type", "use one of the types of docs/sql.md"),
    ("the charset", "use utf8mb4"),
    ("the collation", "use utf8mb4_bin, utf8mb4_general_ci or another one of docs/sql.md"),
    ("attribute INVISIBLE", "leave it out: TiDB has no invisible columns"),
    ("attribute REFERENCES", "write FOREIGN KEY (…) REFERENCES …: TiDB ignores REFERENCES of a column"),
    ("SUBPARTITION", "leave it out: TiDB has no subpartitions"),
    ("LINEAR partitioning", "leave LINEAR out"),
    ("PARTITION BY KEY ()", "name the columns of the primary key"),
    ("INTERVAL in PARTITION BY", "write each partition"),
    ("together with other changes", "write two ALTER TABLE statements"),
    ("DROP CONSTRAINT", "write DROP FOREIGN KEY, DROP INDEX or DROP PRIMARY KEY"),
    ("ORDER BY", "leave it out: rows are in the order of their keys"),
    ("SET GLOBAL", "write SET, which concerns this session"),
    ("SET TRANSACTION", "leave it out: a scenario has one session"),
    ("the sql_mode", "write the SQL in the default sql_mode"),
    ("the variable", "leave it out, or set it to the value that the other statements assume"),
    ("RELEASE", "leave RELEASE out: a scenario has one session"),
    ("INTO a variable", "write the value: TiDB has no SELECT … INTO @variable"),
    ("READ ONLY", "leave it out: it changes nothing"),
    ("the function", "write its value"),
    ("AUTO_RANDOM", "write the value of the column"),
    ("an index on the expression", "add a generated column, and an index on it"),
    ("IGNORE", "write the statement for the rows that it changes"),
    ("a hint", "leave the hint out"),
    ("row alias", "write VALUES(column): TiDB has no row aliases"),
    ("PARTITION", "write a condition on the columns of the partitions"),
)
"""Words of an error and the advice; the first that fits counts."""


def with_advice(error: UnsupportedSQL) -> UnsupportedSQL:
    """The error with a hint what to write instead, unless it has one."""
    if not error.hint:
        error.hint = next((advice for words, advice in _ADVICE if words in error.what), GENERAL)
    return error


@contextmanager
def located(file: str, line: int) -> Iterator[None]:
    """Context that adds file and line to errors, and what to write instead of what is not supported."""
    try:
        yield
    except UnsupportedSQL as error:
        raise with_advice(error.at(file, line)) from error.__cause__
    except ScenarioError as error:
        raise error.at(file, line) from error.__cause__
    except RecursionError:
        raise ScenarioError("SQL is nested too deeply", file=file, line=line) from None
