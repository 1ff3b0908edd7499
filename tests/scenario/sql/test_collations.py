"""Statements see texts as TiDB's collations do: keys, comparisons, order and members."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError

_UNICODE, _UNICODE_9 = "collate utf8mb4_unicode_ci", "collate utf8mb4_0900_ai_ci"
_GBK = "character set gbk collate gbk_chinese_ci"


@pytest.mark.parametrize(
    ("column", "text", "other"),
    [
        (_UNICODE, "ß", "SS"),
        (_UNICODE, "🍣", "🍺"),
        (_UNICODE, "a", "a "),
        (_UNICODE_9, "æ", "AE"),
        (_UNICODE_9, "가", "\u1100\u1161"),
        (_UNICODE_9, "か", "ガ"),
        (_GBK, "[", "\\\\"),
        ("collate utf8mb4_general_ci", "ǝ", "Ǝ"),
    ],
)
@pytest.mark.parametrize("key", ["primary key", "unique"])
def test_equal_texts_conflict(column: str, text: str, other: str, key: str) -> None:
    script = f"create table t (id int, c varchar(9) {column} {key}); insert into t values (1, '{text}');"
    with pytest.raises(ScenarioError, match="Duplicate entry"):
        history_of(f"{script} insert into t values (2, '{other}')")
    replaced = rows_of(f"{script} replace into t values (2, '{other}')")
    assert [row[0] for row in replaced] == [b"2"]


@pytest.mark.parametrize(
    ("column", "text", "other"),
    [
        (_UNICODE, "가", "\u1100\u1161"),
        (_UNICODE_9, "🍣", "🍺"),
        (_UNICODE_9, "a", "a "),
        (_GBK, "á", "a"),
        ("collate utf8mb4_general_ci", "ß", "ss"),
        ("collate utf8mb4_general_ci", "ƀ", "Ƀ"),
    ],
)
def test_different_texts_do_not(column: str, text: str, other: str) -> None:
    script = (
        f"create table t (c varchar(9) {column} primary key); insert into t values ('{text}'), ('{other}')"
    )
    assert len(rows_of(script)) == 2


@pytest.mark.parametrize(
    ("column", "order"),
    [
        (_UNICODE, ["_", "1", "a", "ß", "st", "я", "あ", "中", "㍿", "가"]),
        (_UNICODE_9, ["_", "1", "a", "ß", "st", "я", "가", "あ", "中", "㍿"]),
        (_GBK, ["1", "a", "_", "é", "Ж", "啊", "吧", "文", "中"]),
    ],
)
def test_the_order_of_rows(column: str, order: list[str]) -> None:
    """Each UPDATE takes the first row in the order that has no rank."""
    values = ", ".join(f"({number}, '{text}', null)" for number, text in enumerate(sorted(order)))
    table = (
        f"create table t (id int primary key, c varchar(9) {column}, n int); insert into t values {values};"
    )
    ranks = "".join(f"update t set n = {n} where n is null order by c limit 1;" for n in range(len(order)))
    ranked = sorted((int(row[2] or b"-1"), row[1]) for row in rows_of(table + ranks))
    assert [text for _, text in ranked] == [text.encode() for text in order]


def test_conditions_and_members() -> None:
    script = (
        f"create table t (id int primary key, c varchar(9) {_UNICODE_9}, e enum('Straße', 'b') {_UNICODE_9});"
        "insert into t values (1, 'Ａé', 'STRASSE'), (2, 'b', 2);"
        "update t set id = 3 where c = 'ae' and e = 'strasse';"
        "update t set id = 4 where c like 'B' and c between 'a' and 'c'"
    )
    assert rows_of(script) == [(b"3", "Ａé".encode(), b"1"), (b"4", b"b", b"2")]


_MIXED = (
    "create table t (id int primary key, g varchar(9) collate utf8mb4_general_ci,"
    f" u varchar(9) {_UNICODE}, b varchar(9), k varchar(9) {_GBK}, l varchar(9) character set latin1);"
    "insert into t values (1, 'a', 'A', 'A', 'A', 'a');"
)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("g = b", False),
        ("b = g", False),
        ("u = lower(b)", False),
        ("g = k", True),
        ("k = g", True),
        ("l = u", True),
        ("g = u collate utf8mb4_unicode_ci", True),
        ("b = (g collate utf8mb4_unicode_ci)", True),
        ("b in ('x', 'a' collate utf8mb4_unicode_ci)", True),
        ("b in ('x', 'a')", False),
        ("b between 'a' collate utf8mb4_unicode_ci and 'b'", True),
        ("upper(b collate utf8mb4_unicode_ci) = g", True),
        ("concat(g, u) = 'x' collate utf8mb4_bin", False),
        ("b between 'a' and 'b'", False),
        ("b like g", False),
    ],
)
def test_the_collation_of_two_operands(condition: str, holds: bool) -> None:
    (row,) = rows_of(f"{_MIXED} update t set id = 2 where {condition}")
    assert row[0] == (b"2" if holds else b"1")


@pytest.mark.parametrize(
    "condition",
    [
        *("g = u", "k = l", "g between u and 'x'", "'a' collate utf8mb4_bin = b collate utf8mb4_unicode_ci"),
        *(
            "strcmp(g, u) = 1",
            "instr(g, u)",
            "field('x', g, u)",
            "nullif(g, u) is null",
            "case g when u then 1 end",
        ),
        *("concat(g, u) = b", "upper(g) = reverse(u)", "coalesce(g, u) in ('x')"),
        "concat(b collate utf8mb4_bin, g collate utf8mb4_general_ci) is null",
        "id > 5 and g = u",  # the mix is an error before any row is computed
    ],
)
def test_an_illegal_mix(condition: str) -> None:
    with pytest.raises(ScenarioError, match="Illegal mix of collations"):
        history_of(f"{_MIXED} update t set id = 2 where {condition}")


def test_functions_of_bytes_read_a_gbk_column_in_gbk() -> None:
    script = f"create table t (v varchar(9) {_GBK}, n int, h varchar(99)); insert into t (v) values ('中文');"
    script += "update t set n = length(v), h = concat(hex(v), ' ', to_base64(v), ' ', ascii(v))"
    assert rows_of(script) == [("中文".encode(), b"4", b"D6D0CEC4 1tDOxA== 214")]


@pytest.mark.parametrize(
    "change",
    [
        "insert into t select id, v from s",
        "insert into t select id, v from s union select 1, v from s",
        "insert into t values (1, convert('中' using gbk))",
        "insert into t values (1, '-'); update t, s set t.b = s.v",
        "insert into t values (1, '-'); insert into t select 1, '-' from s on duplicate key update b = s.v",
        "insert into t values (1, (select v from s))",
        "insert into t select id, cast(v as binary) from s",
    ],
)
def test_a_binary_column_has_the_bytes_of_gbk(change: str) -> None:
    script = f"create table s (id int primary key, v varchar(9) {_GBK}); insert into s values (1, '中');"
    script += f"create table t (id int primary key, b varbinary(9)); {change}"
    assert rows_of(script) == [(b"1", b"\xd6\xd0")]


@pytest.mark.parametrize("change", ["cast(v as char)", "convert(v using utf8mb4)", "concat(v, '')"])
def test_a_text_in_another_charset_has_its_bytes(change: str) -> None:
    script = "create table t (v varchar(9), b varbinary(9)); insert into t (v) values ('中');"
    if "concat" not in change:
        script = script.replace("varchar(9)", f"varchar(9) {_GBK}")
    assert rows_of(f"{script} update t set b = {change}") == [("中".encode(), "中".encode())]
