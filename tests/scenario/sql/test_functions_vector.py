"""Vectors in expressions: distances have the rounding of 32 bits, and a vector is no text."""

from __future__ import annotations

import pytest

from tests.scenario.sql.expressions import LAX, STRICT, result_text
from tests.scenario.sql.script_results import rows_of
from ticdc_producer.errors import ScenarioError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vec_dims('[1, 2]')", "2"),
        ("vec_dims('[]')", "0"),
        ("vec_dims(null)", None),
        ("vec_l2_distance('[1, 2]', '[3, 4]')", "2.8284271247461903"),
        ("vec_l2_distance('[1, 2]', null)", None),
        ("vec_l1_distance('[0.1, 0.2]', '[0.3, 0.7]')", "0.7000000476837158"),
        ("vec_l1_distance('[]', '[]')", "0"),
        ("vec_cosine_distance('[1, 2]', '[2, 4]')", "0"),
        ("vec_cosine_distance('[1, 0]', '[-2, 0]')", "2"),
        ("vec_cosine_distance('[0, 0]', '[1, 1]')", None),
        ("vec_negative_inner_product('[1, 2]', '[3, 4]')", "-11"),
        (
            "vec_negative_inner_product('[16777217]', '[1.1]')",
            "-18454938",
        ),  # 24 bits of both, and of the product
        ("vec_l2_norm('[3, 4]')", "5"),
        ("vec_l2_norm('[0.1]')", "0.10000000149011612"),  # the only one in 64 bits
        ("vec_as_text('[1, 2.50, -0]')", "[1,2.5,-0]"),
        ("vec_from_text('[1e-7]')", "[0.0000001]"),
        ("concat('v', vec_from_text('[ 1 ]'))", "v[1]"),
        ("vec_from_text('[10]') > '[9]'", "1"),  # as a text it would be smaller
        ("vec_from_text('[1]') < '[1, 0]'", "1"),
        ("vec_from_text('[-0]') = '[0]'", "1"),
        ("vec_from_text('[1, 2]') + '[3, 4]'", "[4,6]"),
        ("'[1, 2]' - vec_from_text('[3, 4]')", "[-2,-2]"),
        ("vec_from_text('[1, 2]') * '[0.1, 4]'", "[0.1,8]"),
        ("if(vec_from_text('[]'), 1, 2)", "2"),
        ("greatest(vec_from_text('[9]'), vec_from_text('[10]'))", "[10]"),
        ("cast(vec_from_text('[1, 2]') as vector(2))", "[1,2]"),
        ("cast(vec_from_text('[1, 2]') as char)", "[1,2]"),
    ],
)
def test_value(text: str, expected: str | None) -> None:
    assert result_text(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vec_dims(5)", "cannot cast to a vector"),
        ("vec_dims('{}')", "Incorrect vector value"),
        ("vec_from_text('[1e39]')", "infinite values"),
        ("vec_l2_distance('[1]', '[1, 2]')", "vectors have different dimensions: 1 and 2"),
        ("vec_from_text('[1]') = 1", "cannot cast to a vector"),
        ("vec_from_text('[1]') / 2", "cannot cast a vector to a number"),
        ("-vec_from_text('[1]')", "cannot cast a vector to a number"),
        ("vec_from_text('[3e38]') + '[3e38]'", "value out of range: overflow"),
        ("cast(vec_from_text('[1]') as json)", "cannot cast a vector to JSON"),
        ("cast(vec_from_text('[1]') as signed)", "cannot cast a vector to a number"),
        ("cast('[1, 2]' as vector(3))", r"vector has 2 dimensions, does not fit VECTOR\(3\)"),
        ("vec_dims()", "Incorrect parameter count"),
    ],
)
def test_errors_in_every_sql_mode(text: str, message: str) -> None:
    for mode in (STRICT, LAX):
        with pytest.raises(ScenarioError, match=message):
            result_text(text, mode)


def test_columns_are_vectors_in_statements() -> None:
    script = """
        create table t (id int primary key, v vector(2), n double as (vec_l2_norm(v)) stored);
        insert into t (id, v) values (1, '[10, 0]'), (2, '[9, 0]'), (3, null), (4, '[3, 4]');
        update t set v = v + '[1, 0]' order by v desc limit 1;
        update t set v = vec_from_text('[0, 0]') where v < '[4, 0]';
        delete from t where vec_l2_distance(v, '[9, 0]') = 0
    """
    assert rows_of(script) == [(b"1", b"[11,0]", b"11"), (b"3", None, None), (b"4", b"[0,0]", b"0")]


@pytest.mark.parametrize(
    ("condition", "rows"),
    [
        ("t.v = u.w", [b"1", b"2"]),
        ("t.v = u.x", [b"1", b"2"]),
        ("t.v in (select w from u)", [b"1", b"2"]),
        ("t.v in (select x from u)", [b"1", b"2"]),
    ],
)
def test_joins_and_lists_find_equal_vectors(condition: str, rows: list[bytes]) -> None:
    joined = "where" if "(" in condition else "join u on"
    script = f"""
        create table t (id int primary key, v vector);
        insert into t values (1, '[0, 1]'), (2, '[0]'), (3, '[7]');
        create table u (w vector, x varchar(20));
        insert into u values ('[0, 1]', '[0, 1]'), ('[-0.0]', '[-0.0]'), ('[1]', '[1]'), ('[2]', '[2]'),
            ('[3]', '[3]'), ('[4]', '[4]'), ('[5]', '[5]'), ('[6]', '[6]'), ('[8]', '[8]');
        create table c (id int primary key);
        insert into c select distinct t.id from t {joined} {condition}
    """
    assert [row[0] for row in rows_of(script, "c")] == rows


def test_groups_of_vectors_have_the_same_bytes() -> None:
    script = """
        create table s (v vector); insert into s values ('[0]'), ('[-0.0]'), ('[0.0]');
        create table t (n int, m int);
        insert into t select count(distinct v), (select count(*) from (select distinct v from s) d) from s
    """
    assert rows_of(script) == [(b"2", b"2")]


def test_the_largest_vector_is_no_text() -> None:
    script = """
        create table s (v vector); insert into s values ('[9]'), ('[10]'), ('[10, -1]');
        create table t (a vector, b vector, c int);
        insert into t select max(v), min(v), count(distinct v) from s
    """
    assert rows_of(script) == [(b"[10,-1]", b"[9]", b"3")]
