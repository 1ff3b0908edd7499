"""The rows of queries: joins, groups, set operations, WITH, and the types of their values."""

from __future__ import annotations

import pytest

from tests.scenario.sql.script_results import history_of, rows_of
from ticdc_producer.errors import ScenarioError, UnsupportedSQL

TABLES = (
    "create table a (id int primary key, g int, x varchar(9) collate utf8mb4_general_ci);"
    "insert into a values (1, 1, 'k'), (2, 1, 'K'), (3, 2, 'm'), (4, null, null);"
    "create table b (id int primary key, g int, y decimal(6,2));"
    "insert into b values (1, 2, 1.50), (2, 3, 2.25), (3, 2, -1);"
    "create table r (p varchar(40), q varchar(40), s varchar(40));"
)


def rows(query: str) -> list[str]:
    """The rows of a query with three columns or fewer, in the order of the result; NULL as ``-``."""
    result = rows_of(f"{TABLES} insert into r {query}", "r")
    return [",".join("-" if value is None else value.decode() for value in row) for row in result]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("(p, q) select a.id, b.id from a join b on a.g = b.g", ["3,1,-", "3,3,-"]),
        # As SHOW CREATE VIEW and dumps print joins.
        (
            "(p, q, s) select a.id, b.id, c.id from ((a join b on(a.g = b.g)) join b c on(c.id = b.id))",
            ["3,1,1", "3,3,3"],
        ),
        ("(p, q) select a.id, d.n from ((select 3 n) d join a on a.id = d.n)", ["3,3,-"]),
        ("(p) select a.id from (((a))) where id > 3", ["4,-,-"]),
        (
            "(p, q) select a.id, b.id from a left join b on a.g = b.g and b.id > 1 where a.id > 2",
            ["3,3,-", "4,-,-"],
        ),
        ("(p, q) select a.id, b.id from a right join b using (g)", ["3,1,-", "-,2,-", "3,3,-"]),
        ("select * from (select 1 a, 2 b) x natural join (select 2 b, 1 a) y join (select 3 c) z", ["1,2,3"]),
        ("select * from (select 1 a, 2 b) x right join (select 2 b, 3 c) y using (b)", ["2,3,1"]),
        (
            "select a.id, c.id, d.id from a, b c left join b d on d.id = c.id + 1 where a.id = c.id",
            ["1,1,2", "2,2,3", "3,3,-"],
        ),
        (
            "(p, q) select x.id, y.id from a x left join (a y join b on y.g = b.id) on y.id = x.id",
            ["1,1,-", "2,2,-", "3,3,-", "4,-,-"],
        ),
        (
            "(p) select id from a where g in (select g from b) or x is null order by id desc",
            ["4,-,-", "3,-,-"],
        ),
        ("(p) select id from a order by g desc, id limit 2 offset 1", ["1,-,-", "2,-,-"]),
        ("(p) select distinct x from a order by x", ["-,-,-", "k,-,-", "m,-,-"]),
        ("select g, count(*), count(g) from a group by g", ["1,2,2", "2,1,1", "-,1,0"]),
        ("select x, sum(id), max(id) as m from a group by x having m > 2 order by m", ["m,3,3", "-,4,4"]),
        ("(p, q) select g, sum(id) from a group by g with rollup", ["1,3,-", "2,3,-", "-,4,-", "-,10,-"]),
        (
            "select g, x, count(*) from a where g = 1 group by g, x with rollup",
            ["1,k,2", "1,-,2", "-,-,2"],
        ),
        (
            "select a.g, grouping(g), sum(g) from a group by g with rollup order by grouping(a.g), g",
            ["-,0,-", "1,0,2", "2,0,2", "-,1,4"],
        ),
        (
            "select g, x, grouping(g, x) from a group by g, x with rollup having grouping(x)",
            ["1,-,1", "2,-,1", "-,-,1", "-,-,3"],
        ),
        (
            "select g+1 k, coalesce(g+1, 'all'), count(*) from a group by g+1 with rollup",
            ["2,2,2", "3,3,1", "-,all,1", "-,all,4"],
        ),
        (
            "select g, sum(count(*)) over (), rank() over (order by g) from a where g group by g with rollup",
            ["-,6,1", "1,6,2", "2,6,3"],
        ),
        ("(p, q) select g, sum(id) from a where id > 99 group by g with rollup", []),
        ("(p, q) select avg(time'10:11:12.5'), sum(date'2021-03-04') from b", ["101112.5,60630912,-"]),
        (
            "(p) select avg(d) from (select date'2021-03-04' d union all select date'2021-03-05') q",
            ["20210304.5,-,-"],
        ),
        ("select variance(id), var_pop(id), var_samp(id) from a", ["1.25,1.25,1.6666666666666667"]),
        (
            "select std(id), stddev(distinct g), stddev_samp(id) from a where id < 4",
            ["0.816496580927726,0.5,1"],
        ),
        ("select std(id), var_samp(id), var_pop(g) from a where id = 1", ["0,-,0"]),
        ("select std(id), variance(g), var_samp(g) from a where id = 4", ["0,-,-"]),
        ("select sum(y), avg(y), min(y) from b", ["2.75,0.916667,-1.00"]),
        ("select sum(id), avg(g), count(distinct g) from a where id > 9", ["-,-,0"]),
        (
            (
                "(p, q) select group_concat(id order by id desc separator '+'), group_concat(distinct"
                " x order by x) from a"
            ),
            ["4+3+2+1,k,m,-"],
        ),
        ("(p, q) select bit_or(id), bit_and(id) from a", ["7,0,-"]),
        (
            "(p, q) select json_arrayagg(g), json_objectagg(id, g) from a where id > 2",
            ['[2, null],{"3": 2, "4": null},-'],
        ),
        ("(p, q) select count(*), 'x' from a having count(*) > 9", []),
        ("(p, q) select 2 as k, max(id) from a group by k", ["2,4,-"]),
        ("(p, q) select g + 1, count(*) from a group by 1 order by 1", ["-,1,-", "2,2,-", "3,1,-"]),
        ("(p, q) select a.id, a.x from a group by a.id order by a.id limit 1", ["1,k,-"]),
        ("(p) select 1 union select 1.0 union select 2", ["1.0,-,-", "2.0,-,-"]),
        ("(p) select 1 union all select 'a' union select '1'", ["1,-,-", "a,-,-"]),
        (
            "(p) select id from a except select id from b union all select 9 order by 1 desc",
            ["9,-,-", "4,-,-"],
        ),
        ("(p) select 5 union select id from a intersect select 2", ["5,-,-", "2,-,-"]),
        (
            "(p) (select id from a order by id desc limit 1) union all (select id from b limit 1)",
            ["4,-,-", "1,-,-"],
        ),
        (
            (
                "(p, q) with c as (select g, count(*) n from a group by g), d as (select * from c"
                " where n > 1) select * from d"
            ),
            ["1,2,-"],
        ),
        (
            "(p) select (select max(y) from b where b.g = a.g) from a order by id",
            ["-,-,-", "-,-,-", "1.50,-,-", "-,-,-"],
        ),
        (
            "(p) select id from a where g > any (select g from b) or g <= all (select g from b where id > 9)",
            ["1,-,-", "2,-,-", "3,-,-", "4,-,-"],
        ),
        ("(p, q) select null in (select id from a where id > 9), 9 not in (select g from a)", ["0,-,-"]),
        ("(p) select 1 from dual where false", []),
    ],
)
def test_rows_of_queries(query: str, expected: list[str]) -> None:
    assert rows(query) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("(p) select g from a group by x", "Expression #1 of SELECT list is not in GROUP BY clause"),
        ("(p, q) select id, count(*) from a", "In aggregated query without GROUP BY"),
        ("(p) select id from a, b", "Column 'id' is ambiguous"),
        ("(p) select distinct x from a order by id", "this is incompatible with DISTINCT"),
        ("(p) select 1 union select 1, 2", "The used SELECT statements have a different number of columns"),
        ("(p) select 1 from (select 1)", "Every derived table must have its own alias"),
        ("(p) select 1 from (select 1, 1) d", "Duplicate column name '1'"),
        ("(p) select id from a order by 2", "Unknown column '2' in 'order clause'"),
        ("(p) select id from a having nope > 1", "Unknown column 'nope'"),
        ("(p) select sum(count(*)) from a", "Invalid use of group function"),
        ("(p) select id from a join b using (z)", "Unknown column 'z' in 'from clause'"),
        ("(p) select 1, 2", "Column count doesn't match value count at row 1"),
        ("(p) select (1, 2)", "Operand should contain 1 column(s)"),
        ("(p) select nope.* from a", "Unknown table 'nope'"),
        ("(p) select count(id, g) from a", "Incorrect parameter count in the call to COUNT()"),
        ("(p) select id from a limit 'x'", "LIMIT needs a whole number"),
        ("(p) with c as (select 1), c as (select 2) select 1", "Not unique table/alias: 'c'"),
    ],
)
def test_what_tidb_rejects(query: str, message: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        history_of(f"{TABLES}\ninsert into r {query}")
    assert message in raised.value.what
    assert raised.value.line == 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 3) select n from c",
         ["1,-,-", "2,-,-", "3,-,-"]),
        (("(p, q) with recursive f (a, b) as (select 0, 1 union all select b, a + b from f where b < 5)"
         " select * from f"),
         ["0,1,-", "1,1,-", "1,2,-", "2,3,-", "3,5,-"]),
        ("(p) with recursive c as (select 1 n union select n % 3 + 1 from c) select n from c",
         ["1,-,-", "2,-,-", "3,-,-"]),
        (("(p) with recursive d as (select date '2024-02-28' x union all select x + interval 1 day from d"
         " where x < '2024-03-01') select x from d"),
         ["2024-02-28,-,-", "2024-02-29,-,-", "2024-03-01,-,-"]),
        (("(p, q) with recursive t as (select id, cast(id as char(9)) path from a where g = 1 union all"
         " select b.id, concat(t.path, '/', b.id) from b join t on b.g = t.id"
         " where length(path) < 3) select * from t"),
         ["1,1,-", "2,2,-", "1,2/1,-", "3,2/3,-"]),
        (("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 2 union all"
         " select n + 10 from c where n < 2) select n from c"),
         ["1,-,-", "2,-,-", "11,-,-"]),
        (("(p) with recursive x as (select 7 n), c as (select n from x union all select n + 1 from c"
         " where n < 8) select n from c"), ["7,-,-", "8,-,-"]),
        ("(p) with recursive c as (select 1 n union all select n + 1 from c limit 2) select n from c",
         ["1,-,-", "2,-,-"]),
        (("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 9 limit 2 offset 3)"
         " select n from c"), ["4,-,-", "5,-,-"]),
        ("(p) with recursive c as (select 1 n union select n + 1 from c limit 0) select n from c", []),
        (("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 1000)"
         " select count(*) from c"), ["1000,-,-"]),
        (("(p) with recursive c as (with recursive d as (select 1 n union select n + 1 from d where n < 2)"
         " select n from d union select n + 2 from c where n < 3) select n from c"),
         ["1,-,-", "2,-,-", "3,-,-", "4,-,-"]),
        # The values of the recursive parts are cast to the types of the first part.
        ("(p) with recursive c as (select 1 n union all select n + 0.5 from c where n < 3) select n from c",
         ["1,-,-", "2,-,-", "3,-,-"]),
        (("(p) with recursive c as (select 1.5 n union all select n * 1.5 from c where n < 4)"
         " select n from c"), ["1.5,-,-", "2.3,-,-", "3.5,-,-", "5.3,-,-"]),
        (("(p) with recursive c as (select 'ab' s, 1 n union all select n, n + 1 from c where n < 3)"
         " select s from c"), ["ab,-,-", "1,-,-", "2,-,-"]),
        (("(p) with recursive c as (select x s from a where id = 1 union all select concat(s, '.')"
         " from c where length(s) < 3) select s from c"), ["k,-,-", "k.,-,-", "k..,-,-"]),
        ("(p) with recursive c as (select 1 n union all select null from c where n < 3) select n from c",
         ["1,-,-", "-,-,-"]),
        (("(p) with recursive c as (select cast(1 as unsigned) n union all select n - 2 from"
         " (select cast(n as signed) n from c) d where n > 0) select n from c"), ["1,-,-", "0,-,-"]),
        # Equal rows count once if the first operator is UNION; in an iteration, those before its last UNION.
        (("(p) with recursive c as (select 1 n union select n + 1 from c where n < 3 union all"
         " select n + 1 from c where n < 3) select n from c"), ["1,-,-", "2,-,-", "3,-,-"]),
        (("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 3 union"
         " select n + 1 from c where n < 3) select count(*) from c"), ["7,-,-"]),
        (("(p) with recursive c as (select 1 n union all select n + 1 from c where n < 3 union"
         " select n + 1 from c where n < 3 union all select n + 1 from c where n < 3) select n from c"),
         ["1,-,-", "2,-,-", "3,-,-"]),
    ],
)  # fmt: skip
def test_recursive_queries(query: str, expected: list[str]) -> None:
    assert rows(query) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select n + 1 from c", "aborted after 1001 iterations"),
        ("select sum(n) from c", "aggregate functions"),
        ("select distinct n + 1 from c where n < 3", "DISTINCT"),
        ("select n, 2 from c where n < 3", "different number of columns"),
        ("select concat(n, 'x') from c where n < 3", "Truncated incorrect INTEGER value"),
        ("select n + 1 from c where n < 3 order by n", "ORDER BY over UNION"),
    ],
)
def test_recursive_queries_that_are_errors(query: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        rows(f"(p) with recursive c as (select 1 n union all {query}) select n from c")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("(p) select (select * from (select 5) s) from a where id = 1", ["5,-,-"]),
        ("(p, q) select id, (with w as (select a.id * 2 d) select d from w) from a where id < 3",
         ["1,2,-", "2,4,-"]),
        (("(p) select id from a where exists (with recursive w as (select a.id * 0 n union all"
         " select n + 1 from w where n < 2) select n from w where n = a.id)"), ["1,-,-", "2,-,-"]),
    ],
)  # fmt: skip
def test_a_subquery_with_a_star_or_with_a_with(query: str, expected: list[str]) -> None:
    assert rows(query) == expected


@pytest.mark.parametrize(
    "statement",
    [
        "update t set n = (select id from a)",
        "delete from t where n = (select id from a)",
        "insert into t select 1 from a where id = 9 and g = (select id from b)",
        "insert into t values (1) on duplicate key update n = (select id from a)",
    ],
)
def test_a_subquery_of_several_rows_is_an_error_without_rows_that_need_it(statement: str) -> None:
    script = f"{TABLES} create table t (n int primary key)"
    with pytest.raises(ScenarioError, match="Subquery returns more than 1 row"):
        history_of(f"{script}; {statement}")
    assert rows_of(f"{script}; create view v as select (select id from a) n; insert into t values (1)") == [
        (b"1",)
    ]


@pytest.mark.parametrize(
    "condition",
    ["b.id in (select 1)", "b.id < all (select 9)", "b.id = (select max(c.id) from a c where c.g = b.g)"],
)
def test_an_on_needs_no_join_with_its_subqueries(condition: str) -> None:
    with pytest.raises(ScenarioError, match="ON condition doesn't support subqueries yet"):
        rows(f"(p) select a.id from a join b on {condition}")
    with pytest.raises(ScenarioError, match="ON condition doesn't support subqueries yet"):
        rows_of(f"{TABLES} update a join b on {condition} set a.x = 'z'", "a")
    assert rows("(p) select a.id from a join b on b.id = (select 1) where a.id = 4") == ["4,-,-"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("(g, id) = any (select g, id from a where id < 3)", ["1,-,-", "2,-,-"]),
        ("(g, id) <> all (select g, id from a where id < 3)", ["3,-,-", "4,-,-"]),
    ],
)
def test_any_and_all_of_rows(condition: str, expected: list[str]) -> None:
    assert rows(f"(p) select id from a where {condition} order by id") == expected
    with pytest.raises(ScenarioError, match="should contain 1 column"):
        rows("(p) select id from a where (g, id) > any (select g, id from a)")


def test_aggregate_functions_of_having_and_order_by_use_aliases() -> None:
    query = "(p, q) select g, id * 10 as k from a group by g, id having sum(k) > 20 order by max(k) desc"
    assert rows(query) == ["-,40,-", "2,30,-"]


def test_aliases_are_resolved_anew_in_each_statement_of_a_shape() -> None:
    """Statements of one shape share their tree; the values of literals and the columns are their own."""
    query = "insert into r (p) select id * {} as k from a group by id having sum(k) > {};"
    both = f"{TABLES} {query.format(1, 3)} {query.format(10, 30)}"
    assert rows_of(both, "r") == [(b"4", None, None), (b"40", None, None)]
    of_column = f"{TABLES} {query.format(1, 3)} alter table a add k int default 7; {query.format(1, 3)}"
    assert rows_of(of_column, "r") == [(b"4", None, None), *[(b"%d" % n, None, None) for n in range(1, 5)]]


@pytest.mark.parametrize("count", [7, 9])
def test_few_and_many_quotients_are_found(count: int) -> None:
    numbers = ", ".join(f"({number})" for number in range(1, count + 1))
    script = f"create table d (v decimal(20,9)); insert into d values {numbers}; create table f (v double);"
    stored = rows_of(f"{script} insert into f select v from d where v/3+0 in (select v/3 from d)", "f")
    assert stored == [(b"%d" % number,) for number in range(1, count + 1)]


@pytest.mark.parametrize(
    ("subquery", "values"),
    [
        ("select count(1) from b where b.g = a.g having count(1) > 0", "0,0,2,0"),
        ("select count(1) k from b where b.g = a.g having k > 5", "0,0,0,0"),
        ("select count(b.y) + 1 from b where b.g = a.g and b.y > 1 having count(1) > 0", "1,1,2,1"),
        ("select coalesce(sum(y), 7) from b where a.g = b.g having count(1) > 0", "7,7,0.50,7"),
        # TiDB does not join the groups of others, which have no row where HAVING is false:
        ("select count(1) from b where b.g + 0 = a.g having count(1) > 0", "-,-,2,-"),
        ("select count(1) from b where b.g = a.g and b.id > a.id having count(1) > 5", "-,-,-,-"),
        ("select count(1) from b where b.g = a.g having count(1) > 0 limit 1", "-,-,2,-"),
        ("select count(1) from b where b.g = a.g group by b.g", "-,-,2,-"),
        ("select 5 from b where b.g = a.g having count(1) > 0", "-,-,5,-"),
    ],
)
def test_a_subquery_without_a_row_after_having_has_the_values_of_no_rows(subquery: str, values: str) -> None:
    assert [row.split(",")[0] for row in rows(f"(p) select ({subquery}) from a")] == values.split(",")
    script = f"{TABLES} update a set x = ifnull(({subquery}), '-')"
    assert [row[2] for row in rows_of(script, "a")] == [value.encode() for value in values.split(",")]


def test_a_double_has_the_digits_that_a_product_of_columns_shows() -> None:
    assert rows("(p, q) select id / 3 * 3 = 1e0, 1 / 3 * 3 = 1e0 from a where id = 1") == ["1,0,-"]


def test_a_recursive_query_in_a_subquery_with_and_without_outer_columns() -> None:
    recursive = (
        "with recursive c as (select 1 n union all select n + 1 from c where n < 900) select {} from c"
    )
    ids = ", ".join(f"({number}, {number}, null)" for number in range(5, 400))
    many = f"{TABLES} insert into a values {ids}; insert into r (p) "
    independent = f"select id from a where id in ({recursive.format('n')})"
    assert len(rows_of(many + independent, "r")) == 399
    correlated = f"select id from a where id = ({recursive.format('max(n) - 899 + id - 1')}) and id < 4"
    assert rows_of(f"{TABLES} insert into r (p) {correlated}", "r") == [
        (b"%d" % n, None, None) for n in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("query", "clause"),
    [
        ("select id from a limit 1 union select 2", "LIMIT"),
        ("select id from a order by id union all select 2", "ORDER BY"),
        ("select 1 union select id from a limit 1 union select 2", "LIMIT"),
        (
            "with recursive c as (select 1 n limit 1 union select n + 1 from c limit 2) select n from c",
            "LIMIT",
        ),
    ],
)
def test_a_left_side_with_clauses_of_its_own_needs_parentheses(query: str, clause: str) -> None:
    with pytest.raises(ScenarioError, match=f"Incorrect usage of UNION and {clause}"):
        rows(f"(p) {query}")


@pytest.mark.parametrize("first", ["'a'", "cast('a' as char(1))"])
def test_a_text_may_not_outgrow_the_type_that_a_recursive_query_begins_with(first: str) -> None:
    query = f"with recursive c as (select {first} s, 1 n union all select concat(s, 'b'), n + 1 from c where"
    with pytest.raises(ScenarioError, match="Data too long"):
        rows(f"(p) {query} n < 3) select s from c")
    script = f"{TABLES} set sql_mode = ''; insert into r (p) {query} n < 3) select s from c"
    assert [row[0] for row in rows_of(script, "r")] == [b"a", b"a", b"a"]


def test_the_columns_of_a_recursive_query_hold_the_bytes_of_literals_and_members_of_enum() -> None:
    recursive = (
        "with recursive c as (select {} s, 1 n{} union all select {}, n + 1 from c where n < 2) select"
    )
    assert rows(f"(p) {recursive.format(repr('é'), '', 'concat(s, s)')} s from c") == ["é,-,-", "éé,-,-"]
    script = (
        "create table t (e enum('b', 'a')); insert into t values (2); create table r (v int);"
        f"insert into r {recursive.format('e', ' from t', 's')} s + 0 from c"
    )
    assert rows_of(script, "r") == [(b"2",), (b"2",)]


@pytest.mark.parametrize("first", ["upper('a')", "1.5", "null"])
def test_a_type_that_is_not_known_may_not_be_outgrown(first: str) -> None:
    with pytest.raises(UnsupportedSQL, match="column 's'"):
        rows(f"(p) with recursive c as (select {first} s union select concat(99, s) from c) select s from c")


def test_a_recursive_query_begins_with_one_that_is_not() -> None:
    with pytest.raises(ScenarioError, match="must begin with a query that does not read it"):
        rows("(p) with recursive c as (select n from c union all select 1) select n from c")


def test_a_join_of_too_many_rows_is_refused_before_it_is_computed() -> None:
    values = ", ".join(f"({number})" for number in range(1_001))
    script = f"create table n (i int primary key); insert into n values {values}; create table t (a bigint);"
    assert rows_of(f"{script} insert into t select count(*) from n a, n b where a.i < 9") == [(b"9009",)]
    message = "a join of more than 1,000,000 rows is not supported"
    for statement in (
        "insert into t select 1 from n a, n b, n c, n d, n e, n f",
        "insert into t select count(*) from n a, (select x.i from n x, n y, n z) b",
        "delete a, b from n a join n b join n c",
        "update n a, n b, n c set a.i = b.i",
        "insert into t select count(*) from n a, n b where a.i >= 0",
    ):
        with pytest.raises(UnsupportedSQL, match=message):
            history_of(f"{script} {statement}")


@pytest.mark.parametrize(
    "statement",
    [
        "select a.i + d.i from n a, n b, n c, n d limit 1, 1",
        "select 1 from x where exists (select * from n a, n b, n c, n d where a.i = x.i)",
        "select 1 from x where exists (select 1 from n a, n b, n c, n d having a.i = 0)",
    ],
)
def test_rows_of_a_join_that_are_not_needed_are_not_computed(statement: str) -> None:
    values = ", ".join(f"({number})" for number in range(1_001))
    script = (
        f"create table n (i int primary key); insert into n values {values};"
        " create table x (i int); insert into x values (1); create table t (v bigint);"
    )
    assert rows_of(f"{script} insert into t {statement}") == [(b"1",)]


def test_any_column_may_be_selected_without_only_full_group_by() -> None:
    script = f"{TABLES} set sql_mode = ''; insert into r (p) select x from a group by g order by g"
    assert [row[0] for row in rows_of(script, "r")] == [None, b"k", b"m"]


@pytest.mark.parametrize("selected", ["upper(x)", "(upper(x))", "concat('a', count(*))", "any_value(g)"])
def test_an_expression_of_group_by_may_be_selected(selected: str) -> None:
    rows_of(f"{TABLES} insert into r (p) select {selected} from a group by upper(x)", "r")


@pytest.mark.parametrize("selected", ["upper(a.x)", "upper(x) + 1", "x"])
def test_only_an_expression_as_it_is_written_in_group_by_may_be_selected(selected: str) -> None:
    with pytest.raises(ScenarioError, match="incompatible with sql_mode=only_full_group_by"):
        rows_of(f"{TABLES} insert into r (p) select {selected} from a group by upper(x)", "r")


def test_on_duplicate_key_update_reads_the_selected_row() -> None:
    script = (
        f"{TABLES} insert into a (id, g) select id, g from b z on duplicate key update x = z.y, g = values(g)"
    )
    assert rows_of(script, "a")[:2] == [(b"1", b"2", b"1.50"), (b"2", b"3", b"2.25")]


def test_a_statement_reads_the_rows_from_before_it() -> None:
    script = f"{TABLES} insert into a (id) select id + 10 from a;"
    counts = "((select count(*) from r)), ((select count(*) from a))"
    assert [row[0] for row in rows_of(f"{script} insert into r (p) values {counts}", "r")] == [b"0", b"8"]


def test_indexes_find_what_a_comparison_of_all_rows_finds() -> None:
    """Values of other types than the column's are compared as numbers, or in the"
    " collation of the column. Strict mode refuses the texts that are no numbers."""
    script = (
        "set sql_mode = '';"
        "create table k (id int primary key, c varchar(9) collate utf8mb4_general_ci, d"
        " double, e enum('1', 'b'));"
        "insert into k values (1, 'A', 1, 'b'), (2, '2.0', 2.5, '1'), (3, 'ä ', 3, 'b');"
        "create table f (n decimal(4,1), s varchar(9) collate utf8mb4_general_ci, x varbinary(9));"
        " insert into f values (2.0, 'a', 'A'), (3, 'b', '3');"
        "create table r (w varchar(9), id int);"
    )
    joins = {
        "id = f.n": {2, 3}, "c = f.n": {2}, "c = f.s": {1, 3}, "c = f.x": {1}, "d = f.n": {3},
        "e = f.s": {1, 3}, "id = f.x": {3},
    }  # fmt: skip
    for condition, expected in joins.items():
        result = rows_of(f"{script} insert into r (id) select k.id from f join k on k.{condition}", "r")
        assert {int(row[1] or 0) for row in result} == expected, condition


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("w <= all (select x from a where id < 3)", "1"),
        ("w < any (select x from a where id < 3)", "0"),
        ("w = all (select x from a where id < 3)", "1"),
        ("w <> any (select x from a where id < 3)", "0"),
        ("w = all (select x from a where id < 4)", "0"),
        ("w <> any (select x from a)", "1"),
        ("w <> all (select x from a where id = 2)", "1"),
        ("w = any (select x from a where id = 2)", "0"),
        ("w >= any (select x from a where id <> 3)", "1"),
        ("w > any (select x from a where id <> 3)", "-"),
        ("w <= all (select x from a)", "-"),
        ("w > all (select x from a)", "0"),
        ("w > all (select x from a where id = 4)", "-"),
        ("w > all (select x from a where id = 9)", "1"),
        ("w = any (select x from a where id = 9)", "0"),
        ("null > any (select x from a)", "-"),
    ],
)
def test_any_and_all_compare_with_the_extreme_under_the_collation_of_the_subquery(
    condition: str, outcome: str
) -> None:
    binary = "(select cast('k' as char(9)) collate utf8mb4_bin w) c"
    assert rows(f"select ({condition}), null, null from {binary}") == [f"{outcome},-,-"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("at = 20230809", "1"),
        ("at <=> 20230809", "1"),
        ("at <> 20230809", "2"),
        ("20230809 <= at", "1,2"),
        ("at < 20230811.0", "1"),
        ("at > 2.0230809e7", "2"),
        ("at = 230809", "1"),
        ("at = 20230811100000.4", "2"),
        ("at in (20230809)", "1"),
        ("at in (7, 20230809)", "1"),
        ("case at when 20230809 then 1 end", "1"),
        ("(at, id) = (20230809, 1)", "1"),
        ("(id, at) in ((1, 20230809), (2, 20230809))", "1"),
        ("at = 20230808 + 1", "1"),
        ("nullif(at, 20230809) is null", "1"),
        ("nullif(20230809, at) is null", "1"),
        ("nullif(n, 20230809) is null", "1"),
        ("at = (select 20230809)", "1"),
        ("at in (7, (select max(n) - 2 from t))", "1"),
        ("(select min(at) from t) = 20230809", "-"),
        ("at = (select n from t u where u.id = t.id)", "-"),
        ("at in (select n from t)", "-"),
        ("at = 20230809 and z > 20230808", "1"),
        ("z = 20230811100000", "2"),
        ("date_add(at, interval 1 day) = 20230810000000", "1"),
        # A number remains one, and 20230809000000 is larger: where it is no date,
        ("at < 20231310", "-"),
        ("at < 20231200", "-"),
        ("at > true", "1,2"),
        # where it is no constant,
        ("at = n", "-"),
        ("at = @n", "-"),
        ("at <= 20230809 + rand()", "-"),
        # next to another type,
        ("cast('2023-08-09' as datetime) = 20230809", "-"),
        ("d < 19700101000000", "1,2"),
        ("d = 230809", "-"),
        # and in BETWEEN.
        ("at between 20230809 and 20230810", "-"),
        ("at between 20230809 and 20230810000000", "1"),
        ("at not between 20230809 and 20230810", "1,2"),
    ],
)
def test_a_constant_number_is_a_time_where_a_time_is_compared(condition: str, expected: str) -> None:
    script = (
        "create table t (id int primary key, at datetime, n bigint, z timestamp, d date);"
        "create table r (ids varchar(20)); set @n = 20230809;"
        "insert into t values (1, '2023-08-09', 20230809, '2023-08-09', '2023-08-09'),"
        " (2, '2023-08-11 10:00:00', 20230811, '2023-08-11 10:00:00', '2023-08-11');"
        f"insert into r select ifnull(group_concat(id), '-') from t where {condition}"
    )
    assert rows_of(script, "r") == [(expected.encode(),)]


@pytest.mark.parametrize(
    ("sql_mode", "deleted"),
    [("STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE", False), ("STRICT_TRANS_TABLES", True), ("", True)],
)
def test_a_number_with_a_zero_part_is_a_time_where_sql_mode_accepts_it(sql_mode: str, deleted: bool) -> None:
    script = (
        "create table t (at datetime); insert into t values ('2023-08-09');"
        f"set sql_mode = '{sql_mode}'; delete from t where at < 20231200"
    )
    assert rows_of(script) == ([] if deleted else [(b"2023-08-09 00:00:00",)])


def test_a_number_that_is_too_small_for_a_date_is_a_number_next_to_a_time() -> None:
    table = "set sql_mode = ''; create table t (at datetime); insert into t values ('0000-00-00');"
    assert rows_of(f"{table} delete from t where at = 100") == [(b"0000-00-00 00:00:00",)]
    assert rows_of(f"{table} delete from t where at < 100") == []


def test_a_limit_is_at_most_a_bigint() -> None:
    assert rows("(p) select 1 limit 18446744073709551615") == ["1,-,-"]
    with pytest.raises(ScenarioError, match="does not parse"):
        rows("(p) select 1 limit 18446744073709551616")


def test_backslash_and_n_is_null() -> None:
    assert rows(r"values (\N, 'N', '\N')") == ["-,N,N"]


def test_a_variable_is_assigned_next_to_a_comparison() -> None:
    assert rows("(p, q) select id, @n from a where g = @n := 1 + 1") == ["3,2,-"]


TYPED = (
    "create table i (a int, b int); insert into i values (1, 1), (1, 1), (2, 2), (3, 3), (null, null);"
    "create table v (a int, b varchar(9));"
    "insert into v values (1, '1'), (2, '2'), (null, null), (null, '3');"
    "create table d (a int, b decimal(9, 4)); insert into d values (2, 2.1), (3, 3);"
    "create table t (id int auto_increment primary key, a int, b varchar(9));"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("select * from i except select * from d", ["1,1", "2,2", "-,-"]),
        ("select * from i intersect select * from v", ["1,1", "2,2", "-,-"]),
        ("select * from v intersect select * from i", ["1,1", "2,2", "-,-"]),
        ("select * from i except select * from v intersect select * from d", ["1,1", "2,2", "3,3", "-,-"]),
        ("select * from i union all select * from v except select * from d", ["1,1", "2,2", "-,-", "-,3"]),
        ("select 1 a, 1 b except select 1, 2 union select * from d", ["1,1.0000", "2,2.1000", "3,3.0000"]),
    ],
)
def test_intersect_and_except_compare_other_types_and_leave_those_of_their_left_side(
    query: str, expected: list[str]
) -> None:
    stored = rows_of(f"{TYPED} insert into t (a, b) select * from ({query}) q")
    texts = [["-" if value is None else value.decode() for value in row[1:]] for row in stored]
    assert [",".join(row) for row in texts] == expected


@pytest.mark.parametrize(
    ("condition", "selected"),
    [
        ("row(id, g) = (2, 1)", "2"),
        ("row(id, g) in (row(1, 1), (3, 2))", "1,3"),
        ("(id, g) in (select 3, 2)", "3"),
        ("row(g, id) > (select 1, 1)", "2,3"),
    ],
)
def test_a_row_may_be_written_with_its_word(condition: str, selected: str) -> None:
    assert rows(f"(p) select group_concat(id order by id) from a where {condition}") == [f"{selected},-,-"]


@pytest.mark.parametrize(
    "query",
    [
        "select (1, 2) from a where false",
        "select row(1, 2) from a where false",
        "select id from a where false order by (1, 2)",
        "select id from a where (1, 2) and false",
    ],
)
def test_a_row_is_only_compared(query: str) -> None:
    with pytest.raises(ScenarioError, match="should contain 1 column"):
        rows(f"(p) {query}")


def test_the_depth_of_recursion_is_limited() -> None:
    numbers = "with recursive c as (select 1 n union all select n + 1 from c where n < {}) select n from c"
    script = "create table t (n int); set cte_max_recursion_depth = 3; insert into t {}"
    assert len(rows_of(script.format(numbers.format(3)))) == 3
    with pytest.raises(ScenarioError, match="aborted after 4 iterations"):
        history_of(script.format(numbers.format(4)))  # the last iteration gives no row, but it begins


def test_a_literal_of_a_time_is_a_column() -> None:
    assert rows("(p) select timestamp'2020-01-01 10:00:00'") == ["2020-01-01 10:00:00,-,-"]
    seed = "select timestamp'2020-01-01 10:00:00' c, 1 n union all select c, n + 1 from s where n < 2"
    assert rows(f"(p, q) with recursive s as ({seed}) select c, n from s") == [
        "2020-01-01 10:00:00,1,-",
        "2020-01-01 10:00:00,2,-",
    ]


@pytest.mark.parametrize("count", [2, 9])
def test_a_number_is_among_documents_by_their_keys(count: int) -> None:
    documents = " union all ".join(f"select cast('{number}' as json) d" for number in range(6, 6 + count))
    assert rows(f"(p, q) select 7.000000001e0 in ({documents}), 7e0 in ({documents})") == ["0,1,-"]


def test_nullif_refuses_rows() -> None:
    with pytest.raises(ScenarioError, match="1 column"):
        rows("(p) select nullif((select 1, 2), (1, 3))")
