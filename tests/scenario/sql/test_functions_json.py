"""JSON functions, by MySQL's manual and TiDB's source."""

from __future__ import annotations

import pickle

import pytest

from tests.scenario.sql.expressions import result_text, value_of
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.values.sql_value import SQLMode
from ticdc_producer.scenario.sql.expression.evaluate import check_expression, evaluate
from ticdc_producer.scenario.sql.expression.scope import Scope
from ticdc_producer.scenario.sql.functions.json_path import parse_path, path_text
from ticdc_producer.scenario.sql.session.session import Session
from ticdc_producer.scenario.sql.text.parse import parse_expression

_J = """'{"a": 1, "b": [2, {"c": "x y"}], "d e": {"c": null}}'"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("json_array(1, 'abc', null, true, 1.50, 2e0)", '[1, "abc", null, true, 1.5, 2.0]'),
        ("json_array()", "[]"),
        ("json_array(json_array(), json_object())", "[[], {}]"),
        ("json_array('[1]', cast('[1]' as json))", '["[1]", [1]]'),
        ("json_array(x'ff', date'2020-01-02')", '["base64:type253:/w==", "2020-01-02"]'),
        ("json_array(1 < 2, not 0, null is null)", "[true, true, true]"),
        ("json_object('id', 87, 'name', 'carrot')", '{"id": 87, "name": "carrot"}'),
        ("json_object('b', 1, 'a', 2, 'b', 3)", '{"a": 2, "b": 3}'),
        ("json_object(1, null)", '{"1": null}'),
        (
            "json_pretty('{\"a\":[1,2.0,{}],\"b\":[],\"c\":{\"d\":null}}')",
            '{\n  "a": [\n    1,\n    2.0,\n    {}\n  ],\n  "b": [],\n  "c": {\n    "d": null\n  }\n}',
        ),
        ("json_pretty('1')", "1"),
        ("json_storage_size('{}')", "9"),
        ("json_storage_size('{\"a\": 1}')", "29"),
        ("json_storage_size('[1, true, \"abc\"]')", "36"),
        ("json_storage_size('null')", "2"),
        ("json_quote('null')", '"null"'),
        ("json_quote('\"null\"')", '"\\"null\\""'),
        ("json_quote('<a>\\n\\t')", '"<a>\\n\\t"'),
        ("json_unquote('\"abc\"')", "abc"),
        ("json_unquote('\"\\\\t\\\\u0032\"')", "\t2"),
        ("json_unquote('abc')", "abc"),
        ("json_unquote('[1, 2]')", "[1, 2]"),
        (f"json_extract({_J}, '$.a')", "1"),
        (f"json_extract({_J}, '$.b[1].c')", '"x y"'),
        (f"json_extract({_J}, '$.\"d e\"')", '{"c": null}'),
        (f"json_extract({_J}, '$.*')", '[1, [2, {"c": "x y"}], {"c": null}]'),
        (f"json_extract({_J}, '$**.c')", '["x y", null]'),
        (f"json_extract({_J}, '$.a', '$.zz')", "[1]"),
        (f"json_extract({_J}, '$.zz')", None),
        (f"json_extract({_J}, '$.a[0]')", "1"),
        (f"json_extract({_J}, '$.a[last]')", "1"),
        (f"json_extract({_J}, '$.a[*]')", None),
        ("json_extract('[1, 2, 3, 4]', '$[last-1]')", "3"),
        ("json_extract('[1, 2, 3, 4]', '$[1 to 2]')", "[2, 3]"),
        ("json_extract('[1, 2, 3, 4]', '$[last-1 to last]')", "[3, 4]"),
        ("json_extract('[1, 2, 3, 4]', '$[2 to 9]')", "[3, 4]"),
        ("json_extract('[1, 2]', '$[*]')", "[1, 2]"),
        ("json_extract('[[1]]', '$**[0]')", "[[1], 1]"),
        ("json_extract('[1, 1]', '$**[0]')", "[1, 1]"),
        ("json_extract('{\"中\": 1}', '$.中')", "1"),
        ("json_extract('[1.0]', '$[0]')", "1.0"),
        ("json_extract(null, '$')", None),
        ("json_extract('[0.5]', '$[0]') + 1", "1.5"),
        (f"json_keys({_J})", '["a", "b", "d e"]'),
        (f"json_keys({_J}, '$.b')", None),
        ("json_length('[1, 2, {\"a\": 3}]')", "3"),
        ("json_length('{\"a\": 1, \"b\": {\"c\": 30}}', '$.b')", "1"),
        ("json_length('7')", "1"),
        ("json_depth('{}')", "1"),
        ("json_depth('[10, 20]')", "2"),
        ("json_depth('[10, {\"a\": 20}]')", "3"),
        ("json_type('[true]')", "ARRAY"),
        ("json_type('1')", "INTEGER"),
        ("json_type('18446744073709551615')", "UNSIGNED INTEGER"),
        ("json_type('1.0')", "DOUBLE"),
        ("json_type(json_extract('[null]', '$[0]'))", "NULL"),
        ("json_type(cast(date'2020-01-02' as json))", "DATE"),
        ("json_type(cast(time'01:02:03' as json))", "TIME"),
        ("json_type(cast(x'00' as json))", "BLOB"),
        ("json_valid('{\"a\": 1}')", "1"),
        ("json_valid('hello')", "0"),
        ("json_valid(1)", "0"),
        ("json_valid(null)", None),
        (f"json_set({_J}, '$.a', 10, '$.x', '[true, false]')",
         '{"a": 10, "b": [2, {"c": "x y"}], "d e": {"c": null}, "x": "[true, false]"}'),
        ("json_set('{\"a\": 1}', '$.a.b', 2)", '{"a": 1}'),
        ("json_set('[1]', '$[0]', null)", "[null]"),
        ("json_set('[1]', '$[5]', 2)", "[1, 2]"),
        ("json_set('1', '$[1]', 2)", "[1, 2]"),
        ("json_set('1', '$[0]', 2)", "2"),
        ("json_set('{\"a\": 1}', '$', 2)", "2"),
        ("json_set('{\"a\": 1}', null, 2)", None),
        ("json_set('[1, 2]', '$[last]', 3)", "[1, 3]"),
        ("json_insert('{\"a\": 1, \"b\": [2, 3]}', '$.a', 10, '$.c', '[true]')",
         '{"a": 1, "b": [2, 3], "c": "[true]"}'),
        ("json_replace('{\"a\": 1, \"b\": [2, 3]}', '$.a', 10, '$.c', 1)", '{"a": 10, "b": [2, 3]}'),
        ("json_remove('[\"a\", [\"b\", \"c\"], \"d\"]', '$[1]')", '["a", "d"]'),
        ("json_remove('{\"a\": 1, \"b\": 2}', '$.b', '$.zz')", '{"a": 1}'),
        ("json_array_append('[\"a\", [\"b\", \"c\"], \"d\"]', '$[1]', 1)", '["a", ["b", "c", 1], "d"]'),
        ("json_array_append('[\"a\", [\"b\", \"c\"], \"d\"]', '$[0]', 2)", '[["a", 2], ["b", "c"], "d"]'),
        ("json_array_append('{\"a\": 1}', '$', 'z')", '[{"a": 1}, "z"]'),
        ("json_array_insert('[\"a\", {\"b\": [1, 2]}, [3, 4]]', '$[1]', 'x')",
         '["a", "x", {"b": [1, 2]}, [3, 4]]'),
        ("json_array_insert('[1, 2]', '$[100]', 'x')", '[1, 2, "x"]'),
        ("json_array_insert('[1, 2]', '$[last]', 'x')", '[1, "x", 2]'),
        ("json_array_insert('{\"a\": 1}', '$.a[0]', 2)", '{"a": 1}'),
        ("json_merge_patch('[1, 2]', '[true, false]')", "[true, false]"),
        ("json_merge_patch('{\"name\": \"x\"}', '{\"id\": 47}')", '{"id": 47, "name": "x"}'),
        ("json_merge_patch('{\"a\": 1, \"b\": 2}', '{\"b\": null}')", '{"a": 1}'),
        ("json_merge_patch('{\"a\": {\"x\": 1}}', '{\"a\": {\"y\": 2}}')", '{"a": {"x": 1, "y": 2}}'),
        ("json_merge_patch('{\"a\": 1}', null)", None),
        ("json_merge_patch(null, '[1]')", "[1]"),
        ("json_merge_preserve('[1, 2]', '[true, false]')", "[1, 2, true, false]"),
        ("json_merge_preserve('{\"a\": 1}', '{\"a\": 3, \"c\": 4}')", '{"a": [1, 3], "c": 4}'),
        ("json_merge_preserve('1', 'true')", "[1, true]"),
        ("json_merge_preserve('[1, 2]', '{\"id\": 47}')", '[1, 2, {"id": 47}]'),
        ("json_merge_preserve('{\"a\": 1}', '{\"a\": [2]}', '{\"a\": {}}')", '{"a": [1, 2, {}]}'),
        ("json_contains('{\"a\": 1, \"c\": {\"d\": 4}}', '1', '$.a')", "1"),
        ("json_contains('{\"a\": 1, \"c\": {\"d\": 4}}', '{\"d\": 4}')", "0"),
        ("json_contains('{\"a\": 1, \"c\": {\"d\": 4}}', '{\"d\": 4}', '$.c')", "1"),
        ("json_contains('[1, [2, 3]]', '[3, 1]')", "1"),
        ("json_contains('[1.0]', '1')", "1"),
        ("json_contains('[1]', '1', '$.x')", None),
        ("json_contains_path('{\"a\": 1, \"b\": 2}', 'one', '$.a', '$.e')", "1"),
        ("json_contains_path('{\"a\": 1, \"b\": 2}', 'all', '$.a', '$.e')", "0"),
        ("json_overlaps('[1, 3, 5, 7]', '[2, 6, 7]')", "1"),
        ("json_overlaps('{\"a\": 1}', '{\"a\": 2}')", "0"),
        ("json_search('[\"abc\", [{\"k\": \"10\"}, \"def\"], {\"x\": \"abc\"}]', 'one', 'abc')", '"$[0]"'),
        ("json_search('[\"abc\", [{\"k\": \"10\"}, \"def\"], {\"x\": \"abc\"}]', 'all', 'abc')",
         '["$[0]", "$[2].x"]'),
        ("json_search('[\"abc\", [{\"k\": \"10\"}]]', 'all', '10', null, '$**.k')", '"$[1][0].k"'),
        ("json_search('[\"abc\", {\"a b\": \"abd\"}]', 'all', 'ab%')", '["$[0]", "$[1].\\"a b\\""]'),
        ("json_search('[\"a%\"]', 'one', 'a|%', '|')", '"$[0]"'),
        ("json_search('[\"abc\"]', 'one', 'x')", None),
        ("17 member of('[23, \"abc\", 17, \"ab\", 10]')", "1"),
        ("'17' member of('[23, \"abc\", 17]')", "0"),
        ("'ab' member of('\"ab\"')", "1"),
        ("cast('[4,5]' as json) member of('[[3,4],[4,5]]')", "1"),
        ("cast('1' as json) = 1.0", "1"),
        ("cast('\"a\"' as json) = 'a'", "1"),
        ("cast('[1]' as json) < cast('true' as json)", "1"),
        ("cast('{}' as json) > cast('\"z\"' as json)", "1"),
        ("json_array('\\b', '<&>', '\u2028')", '["\\b", "<&>", "\\u2028"]'),
    ],
)  # fmt: skip
def test_json(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("json_set('{', '$', 1)", "Invalid JSON text"),
        ("json_extract('{}', 'a')", "Invalid JSON path"),
        ("json_extract('{}', '$.a b')", "Invalid JSON path"),
        ("json_extract('{}', '$**')", "Invalid JSON path"),
        ("json_extract('[1]', '$[2 to 1]')", "Invalid JSON path"),
        ("json_set('{}', '$.*', 1)", "may not contain"),
        ("json_remove('{}', '$')", "not allowed"),
        ("json_array_insert('[1]', '$.a', 1)", "not a path to a cell"),
        ("json_object(null, 1)", "NULL member names"),
        ("json_object(x'61', 1)", "binary"),
        ("json_keys(x'7b7d')", "binary"),
        ("json_quote(1)", "Incorrect type"),
        ("json_contains_path('{}', 'some', '$.a')", "'one' or 'all'"),
        ("json_unquote('\"\\\\u12\"')", "Invalid JSON text"),
    ],
)
def test_invalid_json_and_paths_are_errors(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        value_of(text)


def test_the_maximum_nesting_is_a_hundred_levels() -> None:
    deepest = "[" * 100 + "1" + "]" * 100
    assert result_text(f"json_depth('{deepest}')") == "101"
    with pytest.raises(ScenarioError, match="depth"):
        value_of(f"json_array(cast('{deepest}' as json))")


@pytest.mark.parametrize(
    ("path", "canonical"),
    [
        ("$", "$"),
        (" $ . a [ 0 ] ", "$.a[0]"),
        ('$."a"', "$.a"),
        ('$."1a"."a\\"b"', '$."1a"."a\\"b"'),
        ("$.$x_1", "$.$x_1"),
    ],
)
def test_paths_print_as_in_tidb(path: str, canonical: str) -> None:
    assert path_text(parse_path(path)) == canonical


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("j->'$.a'", "1"),
        ("j->>'$.\"b c\"[0]'", "x"),
        ("j->'$.*'", '[1, ["x", "y"]]'),
        ("j->'$**[1]'", '["y"]'),
        ("j->>'$.zz'", None),
        ("j->'$.a' = 1", "1"),
        ("upper(j->>'$.\"b c\"[1]')", "Y"),
        ("json_array(v)", '["base64:type254:AQA="]'),
    ],
)
def test_arrows_and_columns(text: str, expected: str | None) -> None:
    columns = (
        ColumnInfo(name="j", type=MySQLType.JSON),
        ColumnInfo(name="v", type=MySQLType.STRING, length=2),
    )
    table = TableInfo(schema="test", name="t", table_id=1, columns=columns)
    scope = Scope(SQLMode(), table, [b'{"a": 1, "b c": ["x", "y"]}', b"\x01\x00"])
    tree = parse_expression(text, 1)
    check_expression(tree, scope)
    result = evaluate(tree, scope)
    assert result is None if expected is None else str(int(result) if result is True else result) == expected


STORED = """
    create table t (id int primary key, j json, k json as (j) stored);
    insert into t (id, j) values (1, json_object('date', cast('2020-01-02' as date), 'bytes', x'00',
      'unsigned', cast(5 as unsigned), 'list', json_array(time'01:02:03'), 'text', 'x', 'number', 5));
"""
TYPES = {
    "date": "DATE", "bytes": "BLOB", "unsigned": "UNSIGNED INTEGER", "list[0]": "TIME", "text": "STRING",
    "number": "INTEGER",
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        "",
        "update t set j = json_set(j, '$.more', 1)",
        "update t join (select id, j from t) s using (id) set t.j = s.j",
        "alter table t add column c int default 1; update t set c = 2",
    ],
)
@pytest.mark.parametrize("column", ["j", "k"])
def test_a_stored_document_retains_the_types_of_its_scalars(change: str, column: str) -> None:
    session = Session()
    session.run(f"{STORED}{change};create table r (id int primary key auto_increment, c varchar(20));")
    for path in TYPES:
        session.run(f"insert into r (c) select json_type(json_extract({column}, '$.{path}')) from t")
    texts = [(row[1] or b"").decode() for row in session.history().state["test", "r"].rows]
    assert texts == [*TYPES.values()]


def test_an_unsigned_number_retains_its_type_and_text_does_not_get_one() -> None:
    session = Session()
    session.run("create table t (id int primary key, j json, c varchar(20));")
    session.run("insert into t (id, j) values (1, cast(7 as unsigned)), (2, '7'), (3, '\"2020-01-02\"');")
    session.run("update t set c = json_type(j)")
    types = [row[2] for row in session.history().state["test", "t"].rows]
    assert types == [b"UNSIGNED INTEGER", b"INTEGER", b"STRING"]
    assert pickle.loads(pickle.dumps(session.history().state["test", "t"].rows))[0][1] == b"7"


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        # Documents are equal in a comparison if their doubles are, or differ by less than 1e-8,
        ("select id, 2 from j where d = cast(18446744073709551616e0 as json)", "1-2,2-2"),
        ("select id, 4 from j where d = cast(7.000000001e0 as json)", "3-4,4-4"),
        # but in joins and groups only if an integer is one that a double holds.
        ("select a.id, b.id from j a join j b on a.d = b.d where a.id < b.id", "5-6"),
        ("select id, 0 from j where d in (select d from j b where b.id in (2, 4, 6))", "2-0,4-0,5-0,6-0"),
        ("select min(id), max(id) from j group by d", "1-1,2-2,3-3,4-4,5-6,7-7,8-8"),
    ],
)
def test_documents_of_numbers_are_equal(query: str, pairs: str) -> None:
    script = (
        "create table j (id int primary key, d json); create table r (v text);"
        "insert into j values (1, '18446744073709551615'), (2, '18446744073709551616'), (3, '7'),"
        " (4, '7.000000001'), (5, '9007199254740992'), (6, '9007199254740992.0'), (7, '0.0'), (8, '-0.0');"
        f"insert into r with q (a, b) as ({query}) select group_concat(a, '-', b order by a) from q"
    )
    assert rows_of(script, "r") == [(pairs.encode(),)]
