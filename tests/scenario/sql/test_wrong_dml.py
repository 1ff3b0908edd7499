"""Invalid INSERT, UPDATE, DELETE, SET and USE statements, with the full text of their messages."""

from __future__ import annotations

import pytest

from tests.scenario.sql.wrong import Wrong, check

WRONG = [
    Wrong("insert into tt values (1)", "Table 'test.tt' doesn't exist (did you mean 't'?)", "", "test.tt"),
    Wrong(
        "insert into nodb.t values (1)",
        "Unknown database 'nodb' (allowed: test; CREATE DATABASE makes another)",
        "",
        "nodb",
    ),
    Wrong("insert into t (idd) values (1)", "Unknown column 'idd' in table 't' (did you mean 'id'?)", "idd"),
    Wrong(
        "update t set nope = 1",
        (
            "Unknown column 'nope' in table 't' (allowed: asc_, b, bin, d, dt, e, f, id, j, s, ti, "
            "tm, ts, u, v, y)"
        ),
        "nope",
    ),
    Wrong("update t set v = 'x' where t2.id = 1", "Unknown table 't2' in t2.id", "id"),
    Wrong(
        "delete from t where nope = 1",
        (
            "Unknown column 'nope' in table 't' (allowed: asc_, b, bin, d, dt, e, f, id, j, s, ti, "
            "tm, ts, u, v, y)"
        ),
        "nope",
    ),
    Wrong(
        "delete from w",
        "'test.w' is not BASE TABLE (it is a view or a sequence, which hold no rows)",
        "",
        "test.w",
    ),
    Wrong(
        "insert into t (id, v) values (1)",
        "Column count doesn't match value count at row 1: columns 2, values 1",
    ),
    Wrong(
        "insert into t (id, v) values (1, 'a'), (2)",
        "Column count doesn't match value count at row 2: columns 2, values 1",
    ),
    Wrong("insert into t (id, v, id) values (1, 'a', 1)", "Column 'id' specified twice", "id"),
    Wrong("insert into t (id, v) values (1, null)", "Column 'v' cannot be null", "v", "NULL"),
    Wrong("insert into t (id) values (1)", "Field 'v' doesn't have a default value", "v"),
    Wrong(
        "insert into t (id, v) values (5, 'a'), (5, 'b')",
        "Duplicate entry '5' for key 't.PRIMARY'",
        "id",
        "5",
    ),
    Wrong(
        "insert into t (id, v, u) values (5, 'a', 5), (6, 'b', 5)",
        "Duplicate entry '5' for key 't.u'",
        "u",
        "5",
    ),
    Wrong(
        "insert into t (id, v) values (3000000000, 'a')",
        "Out of range value for column 'id': '3000000000'",
        "id",
        "3000000000",
    ),
    Wrong(
        "insert into t (id, v, d) values (5, 'a', 1000)",
        "Out of range value for column 'd': '1000'",
        "d",
        "1000",
    ),
    Wrong(
        "insert into t (id, v) values (5, 'abcdef')",
        "Data too long (at most 5 characters) for column 'v': 'abcdef'",
        "v",
        "abcdef",
    ),
    Wrong(
        "insert into t (id, v, dt) values (5, 'a', '2021-02-30')",
        "Incorrect datetime value for column 'dt': '2021-02-30'",
        "dt",
        "2021-02-30",
    ),
    Wrong(
        "insert into t (id, v, e) values (5, 'a', 'c')",
        "Data truncated: no such ENUM member for column 'e': 'c'",
        "e",
        "c",
    ),
    Wrong(
        "insert into t (id, v, j) values (5, 'a', '{bad')",
        (
            "Invalid JSON text (Expecting property name enclosed in double quotes: line 1 column 2 "
            "(char 1)) for column 'j': '{bad'"
        ),
        "j",
        "{bad",
    ),
    Wrong("insert into t (id, v) values (1 / 0, 'a')", "Division by 0"),
    Wrong(
        "insert into t (id, v) values (9223372036854775807 + 1, 'a')",
        "BIGINT value is out of range in the result of +",
        "",
        "9223372036854775808",
    ),
    Wrong(
        "insert into t (id, v) values (1e999, 'a')",
        "Illegal double '1e999' value found during parsing",
        "",
        "1e999",
    ),
    Wrong(
        "insert into two (a, b, c) values (5, 5, 6)",
        "The value specified for generated column 'c' in table 'two' is not allowed (leave the column out; "
        "mariadb-dump has no option for that, but mydumper and mysqldump do it)",
        "c",
    ),
    Wrong(
        "update two set c = 5",
        "The value specified for generated column 'c' in table 'two' is not allowed",
        "c",
    ),
    Wrong(
        "insert into p values (1, 30, 'a')",
        "Column count doesn't match value count at row 1: columns 2, values 3",
    ),
    Wrong(
        "insert into t (id, v) values (1e5.0, 'a')",
        "SQL does not parse: '1e5.0' is not a number",
        "",
        "1e5.0",
    ),
    Wrong("insert into t (id, v) values (1, 'a') where", "SQL does not parse: unexpected text near 'where'"),
    Wrong(
        "insert into t (id, v) values (1, 'a;",
        "SQL does not parse: ' is missing after the ' of this line "
        "(a ' before it may be one too many; '' is a ' inside of a text)",
    ),
    Wrong(
        "insert into t (id, v) values (1, 'a') on duplicate key update v",
        "SQL does not parse: 'v' is not an assignment",
    ),
    Wrong(
        "insert into t (id, v) values (1, 'b') on duplicate key update v = values()",
        "SQL does not parse: VALUES() needs the name of one column",
    ),
    Wrong(
        "update t set id = 'x' order by",
        "SQL does not parse: Required keyword: 'expressions' missing near 'order by'",
    ),
    Wrong("update t set", "SQL does not parse: UPDATE has no assignment"),
    Wrong("update t set where id = 1", "SQL does not parse: UPDATE has no assignment"),
    Wrong("update t", "SQL does not parse: UPDATE has no assignment"),
    Wrong("update t, two set where t.id = two.a", "SQL does not parse: UPDATE has no assignment"),
    Wrong(
        "insert into t (id, v) values (1, 'b') on duplicate key update",
        "SQL does not parse: UPDATE has no assignment",
    ),
    *(
        Wrong(statement, "SQL does not parse: a comma has nothing before or after it")
        for statement in (
            "update t set v = 'b', where id = 1",
            "update t set , v = 'b'",
            "update t set v = concat('a',)",
            "insert into t (id, v) values (2, 'b'),",
            "insert into t (id, v) values (2, 'b',)",
            "insert into t (id, v,) values (2, 'b')",
            "insert into t (id, v) select id + 1, v, from t",
            "delete from t where id in (1, 2,)",
            "delete from t order by id,",
        )
    ),
    Wrong("delete from t limit 1.5", "LIMIT needs a whole number, not '1.5'", "", "1.5"),
    Wrong("selec 1", "SQL does not parse: expected a statement near 'selec' (did you mean 'SELECT'?)"),
    Wrong("use nope", "Unknown database 'nope' (allowed: test; CREATE DATABASE makes another)", "", "nope"),
    Wrong("set time_zone = null", "Variable 'time_zone' can't be set to the value of NULL", "", "NULL"),
    Wrong("set time_zone = 'Mars'", "Unknown or incorrect time zone: 'Mars'", "", "Mars"),
    Wrong("begin; insert into t (id, v) values (2, 'a')", "BEGIN without COMMIT or ROLLBACK"),
    Wrong("update notes set id = 1.5 where nope.id = 1", "Unknown table 'nope' in nope.id", "id"),
    Wrong(
        "insert into notes values (2, 'a') on duplicate key update nope = 1",
        "Unknown column 'nope' in table 'notes' (did you mean 'note'?)",
        "nope",
    ),
    Wrong(
        "insert into notes (id) select 1 from nowhere",
        "Table 'test.nowhere' doesn't exist (allowed: h, nn, notes, p, t, two)",
        "",
        "test.nowhere",
    ),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.statement[:50])
def test_the_message_names_cause_and_position(wrong: Wrong) -> None:
    check(wrong)
