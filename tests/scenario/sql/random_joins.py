"""Random statements on two joined tables, in the SQL that MariaDB and TiDB are documented to share.

``DIFFERENCES`` lists what is left out, or accepted, because the two differ by design.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import strategies as st

DIFFERENCES = {
    "a derived table or subquery of the target table": "MariaDB refuses some of them (error 1093), TiDB none",
    "WITH before UPDATE and DELETE": "MariaDB 10.11 does not have it",
    "several matches of a row whose new value is that of the other table": "the first match counts, and the"
    " order of a join is not defined",
    "LIMIT and GROUP_CONCAT without ORDER BY of a key": "the order is not defined",
    "UPDATE of two tables, WHERE uses columns that it assigns": "MariaDB updates one table while it joins",
    "INSERT … VALUES with a subquery of the target table": "MariaDB sees the rows before it",
    "REPLACE, or INSERT IGNORE, of joined rows": "the order is not defined, and with it the row that remains",
    "AUTO_INCREMENT": "the ids that a failed statement, or an INSERT … SELECT, uses up",
    "division, AVG": "the scale of intermediate results",
    "an operand out of range next to a subquery that is NULL": "MariaDB does not evaluate it, TiDB evaluates"
    " whole columns",
    "constants out of range": "MariaDB computes them also for a statement without rows",
    "a fraction above -0.5 in a BIGINT UNSIGNED": "TiDB rounds it to 0, MariaDB finds its sign out of range",
    "a negative number that UPDATE by a unique key sets in an unsigned column": "it wraps: TiDB casts it",
    "HAVING max(id) IS NOT NULL without GROUP BY": "MariaDB takes it for true, because id is never NULL, also"
    " where no row is",
    "ANY and ALL of BIGINT UNSIGNED": "MariaDB takes values from 2^63 for negative next to a DOUBLE",
    "columns in groups that a key determines": "MariaDB's ONLY_FULL_GROUP_BY has no functional dependencies",
    "comparison of numbers with texts": "TiDB fails a statement that cannot convert a text, MariaDB warns",
    "user variables inside an expression": "the order of evaluation is not defined",
}
"""What MariaDB and TiDB do differently, and why."""

REFUSED_BY_MARIADB = {1093: "the target table in a subquery", 1443: "the target table in a derived table"}
"""Errors of MariaDB for statements that TiDB runs."""

NUMBERS = {
    "int": ("0", "1", "2", "-3", "7", "2147483647"),
    "bigint unsigned": ("0", "1", "5", "18446744073709551615"),
    "decimal(6,2)": ("0", "1.5", "-2.25", "3.00", "9999.99"),
    "double": ("0", "0.5", "-1.25", "1e3"),
}
TEXTS = {
    "varchar(6) collate utf8mb4_bin": ("'a'", "'A'", "'b '", "''", "'abc'"),
    "varchar(6) collate utf8mb4_general_ci": ("'a'", "'A'", "'b'", "'ab '", "'Abc'"),
    "enum('x','y','zz')": ("'x'", "'y'", "'zz'"),
}
DATES = {
    "date": ("'2020-01-01'", "'2020-02-29'", "'1999-12-31'"),
    "datetime(3)": ("'2020-01-01 00:00:00'", "'2020-01-01 10:20:30.5'"),
    "time": ("'10:00:00'", "'-01:30:00'"),
}
KINDS = {"number": NUMBERS, "text": TEXTS, "date": DATES}


@dataclass(frozen=True)
class Column:
    """A column: its name, its type, and the kind of expressions that it accepts."""

    name: str
    type: str
    kind: str

    @property
    def values(self) -> Sequence[str]:
        return KINDS[self.kind][self.type]


@dataclass(frozen=True)
class Named:
    """A table under a name in a statement."""

    name: str
    columns: tuple[Column, ...]

    def of(self, kind: str) -> list[str]:
        """Its columns of one kind, qualified."""
        return [f"{self.name}.{column.name}" for column in self.columns if column.kind == kind]


@dataclass(frozen=True)
class JoinWorld:
    """Two tables, ``t`` and ``u``, and statements on them.

    :param columns: of each table; the first one, ``id``, is the primary key.
    """

    columns: dict[str, tuple[Column, ...]]
    ddl: list[str]
    statements: list[str]


ID = Column("id", "int", "number")
_BUILT_ONCE = lru_cache(4096)
"""Strategies of the same tables are one object, because Hypothesis validates each object once."""


@st.composite
def join_worlds(draw: st.DrawFn, statements: int) -> JoinWorld:
    """:param statements: number of statements."""
    columns = {name: (ID, *draw(_columns(prefix))) for name, prefix in (("t", "c"), ("u", "d"))}
    ddl = [draw(_table(name, of_table)) for name, of_table in columns.items()]
    ddl += [draw(_rows(name, of_table)) for name, of_table in columns.items()]
    statement = _Statements(columns).any()
    return JoinWorld(columns, ddl, draw(st.lists(statement, min_size=statements, max_size=statements)))


@st.composite
def _columns(draw: st.DrawFn, prefix: str) -> list[Column]:
    kinds = ["number", "text", *draw(st.lists(st.sampled_from(sorted(KINDS)), max_size=2))]
    return [
        Column(f"{prefix}{number}", draw(st.sampled_from(sorted(KINDS[kind]))), kind)
        for number, kind in enumerate(kinds)
    ]


@st.composite
def _table(draw: st.DrawFn, name: str, columns: tuple[Column, ...]) -> str:
    parts = [f"{column.name} {column.type}" for column in columns[1:]]
    key = draw(st.sampled_from(["", *(f", unique key k ({column.name})" for column in columns[1:])]))
    return f"create table {name} (id int primary key, {', '.join(parts)}{key})"


@st.composite
def _rows(draw: st.DrawFn, name: str, columns: tuple[Column, ...]) -> str:
    count = draw(st.integers(1, 5))
    rows = [
        ", ".join([str(number), *(draw(_literal(column)) for column in columns[1:])])
        for number in range(1, count + 1)
    ]
    return f"insert ignore into {name} values ({'), ('.join(rows)})"


def _literal(column: Column) -> st.SearchStrategy[str]:
    return st.sampled_from((*column.values, *column.values, "null"))


class _Statements:
    """Strategies of statements on two tables."""

    def __init__(self, columns: dict[str, tuple[Column, ...]]) -> None:
        self._columns = columns

    def any(self) -> st.SearchStrategy[str]:
        return st.one_of(
            self._insert(), self._insert_select(), self._insert_select(), self._update(), self._delete(),
            self._joined_update(), self._joined_update(), self._joined_delete(), self._variable(),
            self._transaction(),
        )  # fmt: skip

    def _named(self, table: str, name: str) -> Named:
        return Named(name, self._columns[table])

    @_BUILT_ONCE
    def _expression(self, kind: str, tables: tuple[Named, ...], depth: int = 2) -> st.SearchStrategy[str]:
        """An expression of a kind on columns of some tables."""
        columns = [name for table in tables for name in table.of(kind)]
        literals = [value for values in KINDS[kind].values() for value in values]
        leaf = st.sampled_from([*columns, *columns, *literals, "null"])
        if depth == 0:
            return leaf
        inner = self._expression(kind, tables, depth - 1)
        condition = self._condition(tables, 0)
        forms = [
            leaf,
            leaf,
            st.tuples(inner, inner).map(lambda two: f"coalesce({two[0]}, {two[1]})"),
            st.tuples(condition, inner, inner).map(lambda three: f"if({three[0]}, {three[1]}, {three[2]})"),
        ]
        return st.one_of(*forms, *self._own_forms(kind, inner, tables))

    def _own_forms(
        self, kind: str, inner: st.SearchStrategy[str], tables: tuple[Named, ...]
    ) -> list[st.SearchStrategy[str]]:
        if kind == "number":
            text = self._expression("text", tables, 0)
            return [
                st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda words: f"({' '.join(words)})"),
                text.map(lambda argument: f"char_length({argument})"),
                self._scalar(tables),
                st.sampled_from(["@v", "@w"]),
            ]
        if kind == "text":
            return [
                st.tuples(inner, inner).map(lambda two: f"concat({two[0]}, {two[1]})"),
                inner.map(lambda argument: f"upper({argument})"),
                inner.map(lambda argument: f"left({argument}, 3)"),
            ]
        return []

    @st.composite
    def _scalar(draw: st.DrawFn, self: _Statements, tables: tuple[Named, ...]) -> str:
        """A subquery with one value, correlated or not."""
        table = draw(st.sampled_from(("t", "u")))
        numbers = st.sampled_from(self._named(table, "s").of("number"))
        call = draw(st.sampled_from(("max({})", "min({})", "sum({})", "count({})", "count(distinct {})")))
        around = [name for named in tables for name in named.of("number")]
        where = ""
        if around and draw(st.booleans()):
            operator = draw(st.sampled_from(("=", "<", ">=")))
            where = f" where {draw(numbers)} {operator} {draw(st.sampled_from(around))}"
        return f"(select {call.format(draw(numbers))} from {table} s{where})"

    @_BUILT_ONCE
    def _comparison(self, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        operator = st.sampled_from(("=", "<=>", "<>", "<", ">="))
        return st.sampled_from(("number", "number", "text", "date")).flatmap(
            lambda kind: (
                st.tuples(self._expression(kind, tables, 1), operator, self._expression(kind, tables, 1)).map(
                    " ".join
                )
                if kind != "date"
                else self._date_comparison(tables)
            )
        )

    def _date_comparison(self, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        """Dates are compared with dates of the same type, or with NULL."""
        columns = [(f"{named.name}.{column.name}", column) for named in tables for column in named.columns]
        dates = [(name, column) for name, column in columns if column.kind == "date"]
        if not dates:
            return st.sampled_from(("1 = 1", "null is null"))
        return st.sampled_from(dates).flatmap(
            lambda pair: st.sampled_from((*pair[1].values, "null")).map(lambda value: f"{pair[0]} >= {value}")
        )

    @_BUILT_ONCE
    def _condition(self, tables: tuple[Named, ...], depth: int = 2) -> st.SearchStrategy[str]:
        leaf = self._comparison(tables) if depth else self._plain_comparison(tables)
        if depth == 0:
            return leaf
        inner = self._condition(tables, depth - 1)
        return st.one_of(
            leaf,
            leaf,
            st.tuples(inner, st.sampled_from(("and", "or")), inner).map(lambda words: f"({' '.join(words)})"),
            inner.map(lambda condition: f"not ({condition})"),
            self._membership(tables),
            self._exists(tables),
            st.sampled_from(
                [name for named in tables for name in (*named.of("number"), *named.of("text"))] or ["1"]
            ).map(lambda name: f"{name} is null"),
        )

    @_BUILT_ONCE
    def _plain_comparison(self, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        numbers = [name for named in tables for name in named.of("number")] or ["1"]
        number = st.sampled_from((*numbers, "1", "2", "null"))
        return st.tuples(number, st.sampled_from(("=", "<", "<>", ">=")), number).map(" ".join)

    @_BUILT_ONCE
    def _membership(self, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        return st.tuples(
            st.sampled_from(("number", "text")), st.sampled_from(("in", "not in", "> any", "<= all")),
            st.sampled_from(("t", "u")),
        ).flatmap(
            lambda three: st.tuples(
                self._expression(three[0], tables, 0),
                st.sampled_from(self._members(three[2], three[0], three[1])),
                self._condition((self._named(three[2], "s"),), 0),
            ).map(lambda two: f"{two[0]} {three[1]} (select {two[1]} from {three[2]} s where {two[2]})")
        )  # fmt: skip

    def _members(self, table: str, kind: str, operator: str) -> list[str]:
        """The columns whose values a subquery after IN, ANY or ALL may have."""
        signed = [
            column
            for column in self._columns[table]
            if operator.endswith("in") or "unsigned" not in column.type
        ]
        return Named("s", tuple(signed)).of(kind)

    @_BUILT_ONCE
    def _exists(self, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        return st.sampled_from(("t", "u")).flatmap(
            lambda table: self._condition((*tables, self._named(table, "s")), 0).map(
                lambda condition: f"exists (select 1 from {table} s where {condition})"
            )
        )

    @st.composite
    def _insert(draw: st.DrawFn, self: _Statements) -> str:
        table = draw(st.sampled_from(("t", "u")))
        columns = self._columns[table]
        verb = draw(st.sampled_from(("insert into", "insert ignore into", "replace into")))
        rows = []
        for _ in range(draw(st.integers(1, 3))):
            number = draw(st.integers(1, 9))
            values = [
                draw(_literal(column) if draw(st.booleans()) else self._expression(column.kind, (), 1))
                if column.kind != "date"
                else draw(_literal(column))
                for column in columns[1:]
            ]
            values = ["null" if f"from {table} s" in value else value for value in values]
            rows.append(f"({', '.join([str(number), *values])})")
        changed = draw(st.sampled_from(columns[1:]))
        update = f" on duplicate key update {changed.name} = values({changed.name})"
        tail = update if verb == "insert into" and draw(st.booleans()) else ""
        return f"{verb} {table} values {', '.join(rows)}{tail}"

    @st.composite
    def _from(draw: st.DrawFn, self: _Statements) -> tuple[str, tuple[Named, ...]]:
        """A FROM clause of two tables, and their names in it."""
        left, right = draw(st.sampled_from((("t", "u"), ("u", "t"), ("t", "t"))))
        tables = (self._named(left, "x"), self._named(right, "y"))
        join = draw(
            st.sampled_from(("join", "inner join", "left join", "right join", "cross join", "straight_join"))
        )
        on = draw(st.one_of(st.just(""), self._condition(tables, 1), st.just("x.id = y.id")))
        if left != right and draw(st.booleans()) and join not in ("cross join", "straight_join"):
            clause = " using (id)"
        elif join == "cross join" or (not on and join not in ("left join", "right join")):
            clause = ""
        else:
            clause = f" on {on or '1'}"
        return f"{left} x {join} {right} y{clause}", tables

    @st.composite
    def _select(draw: st.DrawFn, self: _Statements, columns: tuple[Column, ...]) -> str:
        clause, tables = draw(self._from())
        if draw(st.booleans()):
            table = draw(st.sampled_from(("t", "u")))
            clause, tables = f"{table} x", (self._named(table, "x"),)
        where = f" where {draw(self._condition(tables))}" if draw(st.booleans()) else ""
        if draw(st.integers(0, 2)) == 0:
            return draw(self._grouped(columns, clause + where, tables))
        offset = draw(st.sampled_from((0, 10, 20, 30)))
        number = draw(st.sampled_from([f"{named.name}.id" for named in tables]))
        items = [f"{number} + {offset}", *(draw(self._item(column, tables)) for column in columns[1:])]
        distinct = draw(st.sampled_from(("", "", "distinct ")))
        return f"select {distinct}{', '.join(items)} from {clause}{where}"

    @_BUILT_ONCE
    def _item(self, column: Column, tables: tuple[Named, ...]) -> st.SearchStrategy[str]:
        """A value that a column accepts; dates of other types, and unknown members, are left out."""
        same = [
            f"{named.name}.{other.name}"
            for named in tables
            for other in named.columns
            if other.type == column.type
        ]
        if column.kind == "number":
            return self._expression("number", tables, 1)
        plain = st.sampled_from((*same, *column.values, "null"))
        return (
            plain
            if column.kind == "date" or "enum" in column.type
            else st.one_of(plain, self._expression("text", tables, 1))
        )

    @st.composite
    def _grouped(
        draw: st.DrawFn,
        self: _Statements,
        columns: tuple[Column, ...],
        clause: str,
        tables: tuple[Named, ...],
    ) -> str:
        number = draw(st.sampled_from([name for named in tables for name in named.of("number")]))
        texts = [name for named in tables for name in named.of("text")]
        numbers = [name for named in tables for name in named.of("number")]
        rows = ", ".join(f"{named.name}.id" for named in tables)
        items = ["min(x.id) + 40"]
        for column in columns[1:]:
            if column.kind == "number":
                function = draw(st.sampled_from(("count", "max", "min", "sum", "count(distinct", "bit_or")))
                argument = draw(st.sampled_from(numbers))
                items.append(
                    f"count(distinct {argument})" if "distinct" in function else f"{function}({argument})"
                )
            elif column.kind == "text" and "enum" not in column.type:
                text = draw(st.sampled_from(texts))
                items.append(f"left(group_concat({text} order by {text}, {rows} separator '-'), 6)")
            else:
                items.append(draw(_literal(column)))
        group = f" group by {number}" if draw(st.booleans()) else ""
        largest = "" if number.endswith(".id") and not group else f" having max({number}) is not null"
        having = draw(st.sampled_from(("", " having count(*) > 1", largest)))
        return f"select {', '.join(items)} from {clause}{group}{having}"

    @st.composite
    def _insert_select(draw: st.DrawFn, self: _Statements) -> str:
        table = draw(st.sampled_from(("t", "u")))
        columns = self._columns[table]
        query = draw(self._select(columns))
        form = draw(st.integers(0, 5))
        if form == 0:
            operator = draw(st.sampled_from(("union", "union all", "except", "intersect")))
            query = f"{query} {operator} {draw(self._select(columns))}"
        elif form == 1:
            names = ", ".join(column.name for column in columns)
            query = f"with w ({names}) as ({query}) select * from w where id > 2"
        elif form == 2:
            names = ", ".join(f"{column.name}_" for column in columns)
            query = f"select w.* from (with v ({names}) as ({query}) select * from v) w"
        elif form == 3:  # rows in the order of their keys, so that the last one of a unique key is known
            named = self._named(table, "x")
            items = [draw(self._item(column, (named,))) for column in columns[1:]]
            verb = draw(st.sampled_from(("insert ignore into", "replace into")))
            return f"{verb} {table} select {', '.join(['x.id + 1', *items])} from {table} x order by x.id"
        return f"insert into {table} {query}"

    @st.composite
    def _assignments(
        draw: st.DrawFn, self: _Statements, table: str, target: Named, tables: tuple[Named, ...]
    ) -> list[str]:
        columns = draw(
            st.lists(st.sampled_from(self._columns[table][1:]), min_size=1, max_size=2, unique=True)
        )
        return [f"{target.name}.{column.name} = {draw(self._item(column, tables))}" for column in columns]

    @st.composite
    def _update(draw: st.DrawFn, self: _Statements) -> str:
        table = draw(st.sampled_from(("t", "u")))
        name = draw(st.sampled_from((table, "z")))
        target = self._named(table, name)
        changes = draw(self._assignments(table, target, (target,)))
        where = f" where {draw(self._condition((target,)))}" if draw(st.booleans()) else ""
        limit = draw(st.sampled_from(("", "", f" order by {name}.id desc limit 2")))
        return f"update {table} {name if name != table else ''} set {', '.join(changes)}{where}{limit}"

    @st.composite
    def _delete(draw: st.DrawFn, self: _Statements) -> str:
        table = draw(st.sampled_from(("t", "u")))
        where = draw(self._condition((self._named(table, table),)))
        limit = draw(st.sampled_from(("", "", " order by id limit 1")))
        return f"delete from {table} where {where}{limit}"

    @st.composite
    def _joined_update(draw: st.DrawFn, self: _Statements) -> str:
        left, right = draw(st.sampled_from((("t", "u"), ("u", "t"))))
        x, y = self._named(left, "x"), self._named(right, "y")
        if draw(st.booleans()):  # each row of x has one match at most, so that it may read y
            number = draw(st.sampled_from(x.of("number")))
            clause = f"{left} x {draw(st.sampled_from(('join', 'left join')))} {right} y on y.id = {number}"
            changes = draw(self._assignments(left, x, (x, y)))
        else:
            clause = f"{left} x, {right} y"
            changes = draw(self._assignments(left, x, (x,)))
            changes += draw(self._assignments(right, y, (y,)))
            assigned = [change.split(" = ")[0].partition(".")[2] for change in changes]
            x, y = (
                Named(named.name, tuple(c for c in named.columns if c.name not in assigned))
                for named in (x, y)
            )
        where = f" where {draw(self._condition((x, y)))}" if draw(st.booleans()) else ""
        return f"update {clause} set {', '.join(changes)}{where}"

    @st.composite
    def _joined_delete(draw: st.DrawFn, self: _Statements) -> str:
        clause, tables = draw(self._from())
        targets = draw(st.sampled_from(("x", "y", "x, y")))
        where = f" where {draw(self._condition(tables))}"
        if draw(st.booleans()):
            return f"delete {targets} from {clause}{where}"
        return f"delete from {targets} using {clause}{where}"

    def _variable(self) -> st.SearchStrategy[str]:
        return st.tuples(st.sampled_from("vw"), self._scalar(()) | st.sampled_from(("3", "null", "@v"))).map(
            lambda two: f"set @{two[0]} = {two[1]}"
        )

    def _transaction(self) -> st.SearchStrategy[str]:
        statement = st.one_of(self._delete(), self._update(), self._insert())
        end = st.sampled_from(("commit", "rollback"))
        return st.tuples(
            statement, statement, st.sampled_from(("rollback to s", "release savepoint s")), end
        ).map(lambda four: f"begin; {four[0]}; savepoint s; {four[1]}; {four[2]}; {four[3]}")
