"""Window functions: partitions, orders, frames, and the values at their edges."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.scenario.sql.script_results import rows_of
from tests.scenario.sql.test_queries import rows
from ticdc_producer.errors import ScenarioError
from ticdc_producer.model.values.sql_value import SQLMode, SQLValue
from ticdc_producer.scenario.sql.functions.accumulator import AggregateSettings
from ticdc_producer.scenario.sql.functions.aggregate import AGGREGATES

DATES = (
    "(select 1 id, date'2020-01-01' d union all select 2, date'2020-01-02'"
    " union all select 3, date'2020-01-05') z"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("rank() over (order by g)", "2 2 4 1"),
        ("dense_rank() over (order by g)", "2 2 3 1"),
        ("row_number() over (partition by g order by id desc)", "2 1 1 1"),
        ("count(*) over (partition by g)", "2 2 1 1"),
        ("count(*) over (partition by x)", "2 2 1 1"),
        ("sum(id) over ()", "10 10 10 10"),
        ("sum(id) over (order by g)", "7 7 10 4"),
        ("sum(id) over (w rows between 1 following and unbounded following)", "9 7 4 -"),
        ("sum(id) over (w rows between 2 preceding and 1 preceding)", "- 1 3 5"),
        ("sum(id) over v", "1 3 5 7"),
        pytest.param(f"sum(id) over (w rows {'9' * 5000} preceding)", "1 3 6 10", id="far"),
        ("avg(id) over v", "1.0000 1.5000 2.5000 3.5000"),
        ("count(*) over (w range between 1 preceding and 1 following)", "2 3 3 2"),
        ("count(*) over (order by g desc range between 1 preceding and 1 preceding)", "1 1 0 1"),
        ("first_value(x) over (partition by g order by id)", "k k m -"),
        ("last_value(x) over (partition by g order by id)", "k K m -"),
        ("last_value(x) over (partition by g)", "K K m -"),
        ("lag(id) over w", "- 1 2 3"),
        ("lag(id, 2, 'x') over w", "x x 1 2"),
        ("lead(id, 0) over w", "1 2 3 4"),
        ("lead(g, 1, 9) over w", "1 2 - 9"),
        ("lag(id) respect nulls over w", "- 1 2 3"),
        ("nth_value(id, 2) over w", "- 2 2 2"),
        ("ntile(3) over w", "1 1 2 3"),
        ("ntile(9) over w", "1 2 3 4"),
        ("ntile(null) over w", "- - - -"),
        ("percent_rank() over (order by g)", "0.3333333333333333 0.3333333333333333 1 0"),
        ("percent_rank() over (partition by id)", "0 0 0 0"),
        ("cume_dist() over (order by g)", "0.75 0.75 1 0.25"),
        ("json_arrayagg(g) over w", "[1] [1,1] [1,1,2] [1,1,2,null]"),
        ("rank() over w + 1", "2 3 4 5"),
    ],
)
def test_values(call: str, expected: str) -> None:
    clauses = "from a window v as (w rows 1 preceding), w as (order by id) order by a.id"
    values = rows(f"(p, q) select id, {call} {clauses}")
    column = [row.split(",", 1)[1].removesuffix(",-").replace(" ", "") for row in values]
    assert column == expected.split()


def test_the_keys_of_a_window_are_computed_once_per_row() -> None:
    script = "create sequence s; create table m (id int); insert into m values (1), (2), (3), (4);"
    script += "create table t (id int primary key, p int, q int);"
    script += "insert into t select id, count(*) over w, max(id) over w from m"
    script += (
        " window w as (partition by nextval(s) % 2 order by id); insert into t values (nextval(s), 0, 0)"
    )
    assert rows_of(script)[-1] == (b"5", b"0", b"0")


def test_a_running_sum_takes_linear_time() -> None:
    numbers = ",".join(f"({number})" for number in range(3000))
    script = f"create table m (id int); insert into m values {numbers};"
    script += "create table t (id int primary key, n bigint);"
    script += "insert into t select id, sum(id) over (order by id) from m"
    assert rows_of(script)[-1] == (b"2999", b"4498500")


MIXED = (
    "create table m (id int primary key, g int, i int, d decimal(9,2), f double, s varchar(9));"
    "insert into m values (1,1,5,0.10,0.1,'b'), (2,1,null,0.20,0.2,'B'), (3,1,5,null,0.3,'a'),"
    " (4,1,-7,3.00,1e17,null), (5,2,2,-3.00,1,'c'), (6,2,2,1.10,-1e17,'a'), (7,2,9,0.00,0.7,'A'),"
    " (8,2,null,null,null,null), (9,2,1,7.25,0.1,'z');"
)


@pytest.mark.parametrize(("before", "after"), [(2, 0), (1, 2), (3, -1), (-2, 4)])
@pytest.mark.parametrize(
    "call",
    [
        "sum(i)", "sum(d)", "sum(f)", "sum(if(id < 5, i, d))", "avg(i)", "avg(d)", "avg(f)", "count(*)",
        "count(i)",
        "max(i)", "min(d)", "max(s)", "min(s)", "max(f)", "bit_xor(i)", "bit_or(i)", "var_pop(i)",
        "json_arrayagg(i)",
    ],
)  # fmt: skip
def test_a_sliding_frame_has_the_values_of_its_rows(call: str, before: int, after: int) -> None:
    """Compare with the aggregate function of the same rows, which a subquery reads."""
    bounds = [
        f"{abs(n)} {'preceding' if n * sign >= 0 else 'following'}" for n, sign in ((before, 1), (after, -1))
    ]
    frame = f"partition by g order by id rows between {' and '.join(bounds)}"
    of_rows = f"select {call} from m where g = a.g and id between a.id - {before} and a.id + {after}"
    script = f"{MIXED} create table t (id int primary key, x text, y text);"
    script += f"insert into t select id, concat({call} over ({frame})), concat(({of_rows})) from m a"
    values = rows_of(script)
    assert len(values) == 9
    assert [x for _, x, _ in values] == [y for *_, y in values]


@pytest.mark.parametrize(
    ("function", "values", "is_removed"),
    [
        ("COUNT", (1, 2), True),
        ("MAX", (3, 2), True),
        ("SUM", (1, 2), True),
        ("AVG", (Decimal("1.5"), Decimal("2.5")), True),
        ("SUM", (Decimal("1.5"), 2), False),
        ("SUM", (0.1, 0.2), False),
        ("BIT_OR", (1, 2), False),
    ],
)
def test_the_row_that_leaves_a_frame_is_removed_where_that_is_exact(
    function: str, values: tuple[SQLValue, SQLValue], is_removed: bool
) -> None:
    first, second = values
    state, alone = (AGGREGATES[function].start(AggregateSettings(SQLMode())) for _ in range(2))
    for value in values:
        state.add((value,))
    alone.add((second,))
    assert state.remove((first,)) is is_removed
    assert not is_removed or repr(state.value()) == repr(alone.value())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("g, sum(id), rank() over (order by sum(id) desc) from a group by g order by g", "-,4,1 1,3,2 2,3,2"),
        ("g, count(*), sum(sum(id)) over () from a group by g order by g", "-,1,10 1,2,10 2,1,10"),
        ("distinct 1, count(*) over (partition by g), 0 from a order by 2", "1,1,0 1,2,0"),
        ("id, 0, 0 from a order by row_number() over (order by id desc) limit 2", "4,0,0 3,0,0"),
        ("max(n), 0, 0 from (select rank() over (order by id) n from b) q", "3,0,0"),
        (
            f"id, min(d) over (order by d range interval 1 day preceding), 0 from {DATES}",
            "1,2020-01-01,0 2,2020-01-01,0 3,2020-01-05,0",
        ),
    ],
)
def test_queries(query: str, expected: str) -> None:
    assert rows(f"select {query}") == expected.split()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("id from a where rank() over () = 1", "You cannot use the window function 'rank'"),
        ("sum(rank() over ()) over () from a", "You cannot use the window function 'sum'"),
        ("rank() over (order by rank() over ()) from a", "You cannot use the window function 'rank'"),
        ("rank() over () r from a having r > 1", "You cannot use the alias of a window function"),
        ("ntile(0) over () from a", "Incorrect arguments to ntile"),
        ("nth_value(id, 0) over () from a", "Incorrect arguments to nth_value"),
        ("sum(id) over (order by id groups 1 preceding) from a", "TiDB does not support GROUPS"),
        ("sum(id) over (rows 1 preceding exclude current row) from a", "TiDB does not support GROUPS"),
        ("lag(id, -1) over () from a", "Incorrect arguments to lag"),
        ("rank(1) over () from a", "Incorrect parameter count"),
        ("upper(x) over () from a", "UPPER is not a window function"),
        ("sum(distinct id) over () from a", "TiDB does not support SUM(DISTINCT)"),
        ("group_concat(id) over () from a", "TiDB does not support GROUP_CONCAT"),
        ("rank() over w from a", "Window name 'w' is not defined"),
        ("1 from a window w as (w)", "There is a circularity"),
        ("1 from a window w as (), W as ()", "Window 'W' is defined twice"),
        ("rank() over (w partition by g) from a window w as ()", "cannot define partitioning"),
        ("rank() over (w order by g) from a window w as (order by id)", "both contain an ORDER BY"),
        ("sum(id) over (w order by g) from a window w as (rows 1 preceding)", "has a frame definition"),
        ("sum(id) over (order by x range 1 preceding) from a", "of numeric or temporal type"),
        ("sum(id) over (order by id range interval 1 day preceding) from a", "only with temporal"),
        (f"sum(id) over (order by d range 1 preceding) from {DATES}", "only with numeric"),
        ("sum(id) over (order by id rows 1.5 preceding) from a", "of non-integral type"),
        ("sum(id) over (rows between current row and 1 preceding) from a", "wrong order"),
        ("sum(y) over (partition by y) from a", "Unknown column 'y'"),
        ("sum(id) over (order by y) from a", "Unknown column 'y'"),
    ],
)
def test_errors(query: str, message: str) -> None:
    with pytest.raises(ScenarioError) as error:
        rows(f"(p) select {query}")
    assert message in str(error.value)
