"""Random tables and transactions as SQL, most of which runs without errors."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

_SMALL = ("0", "1", "2", "3", "4", "5", "6")
_KEYABLE = {
    "int": _SMALL,
    "bigint unsigned": (*_SMALL, "18446744073709551615"),
    "decimal(5,2)": ("0", "1.5", "'2.25'", "-3"),
    "double": ("0", "-1.5", "2e3"),
    "varchar(5)": ("'a'", "'A'", "'b '", "'b'", "''", "'ébc'"),
    "varchar(5) collate utf8mb4_general_ci": ("'a'", "'A'", "'á'", "'b'"),
    "char(3)": ("'a'", "'a '", "'b'", "1"),
    "varbinary(3)": ("'a'", "'a '", "x'00ff'"),
    "date": ("'2020-01-01'", "'2020-02-29'", "20210101"),
    "timestamp(3) null": ("'2020-01-01 00:00:00.5'", "'2020-01-01'", "now(3)"),
    "time": ("'10:00:00'", "'-1:00'", "0"),
    "year": ("2020", "'21'", "1999"),
    "enum('a','b')": ("'a'", "'b'", "1"),
    "set('x','y')": ("'x'", "'x,y'", "''", "2"),
    "bit(4)": ("1", "b'1010'", "15"),
}
_TYPES = {**_KEYABLE, "json": ("'{\"a\": 1}'", "'[1, 2.0]'", "'null'"), "text": ("'a'", "'long'")}
_PARTITIONS = (
    "hash (a) partitions 3",
    "key (a) partitions 2",
    "range (a) (partition p0 values less than (3), partition p1 values less than maxvalue)",
    "list (a) (partition p0 values in (0, 1, 2), partition p1 default)",
)
ALTERATIONS = (
    "alter table t add column x int default 5 first",
    "alter table t add column y varchar(3) not null after a",
    "alter table t drop column d",
    "alter table t rename column d to e",
    "alter table t modify column d varchar(40)",
    "alter table t change column d f varchar(40) after a, add column z date",
    "alter table t add unique key k (d, a), drop column c",
    "alter table t drop index k",
    "alter table t alter d set default null",
    "truncate table t",
)


@dataclass(frozen=True)
class World:
    """A table called ``t`` with some rows, and scripts of one transaction each.

    :param undone: scripts that roll back.
    """

    table: str
    scripts: list[str]
    undone: list[str]


@st.composite
def worlds(draw: st.DrawFn, *, alterations: bool = False, undone: int = 0) -> World:
    """:param undone: maximum number of scripts that roll back."""
    partitions = draw(st.sampled_from(("", "", *_PARTITIONS)))
    first = st.sampled_from(("int", "bigint unsigned") if partitions else sorted(_KEYABLE))
    keyable, every = st.sampled_from(sorted(_KEYABLE)), st.sampled_from(sorted(_TYPES))
    types = {"a": draw(first), "b": draw(keyable), "c": draw(keyable), "d": draw(every)}
    table = _table(draw, types, partitions)
    script = _transactions(types)
    if alterations:
        script = script | st.sampled_from(ALTERATIONS)
    rollbacks = st.lists(_grouped(types, "rollback"), max_size=undone)
    return World(f"{table}; {draw(_seed(types))}", draw(st.lists(script, max_size=6)), draw(rollbacks))


def _table(draw: st.DrawFn, types: dict[str, str], partitions: str) -> str:
    also = ", a" if partitions else ""
    primary = (
        "primary key (a)",
        "primary key (a) nonclustered",
        "primary key (a, b)",
        f"unique key (b{also})",
        "key (b)",
    )
    prefix = "c(1)" if types["c"].startswith(("varchar", "char", "varbinary")) else "c"
    others = (
        "",
        f", unique key (b{also})",
        f", unique key u (c, b{also})",
        f", unique key u ({prefix}{also})",
    )
    columns = [f"{name} {kind}{draw(st.sampled_from(('', ' not null')))}" for name, kind in types.items()]
    columns = [column.replace(" null not null", " not null") for column in columns]
    keys = draw(st.sampled_from(primary)) + draw(st.sampled_from(others))
    if "primary key" in keys:  # its columns must not be defined as NULL
        columns = [column.removesuffix(" null").replace(" not", " not null") for column in columns]
    tail = f" partition by {partitions}" if partitions else ""
    return f"create table t ({', '.join(columns)}, {keys}){tail}"


@st.composite
def _seed(draw: st.DrawFn, types: dict[str, str]) -> str:
    """Rows with distinct values of ``a``, as many as the type has."""
    firsts = _TYPES[types["a"]]
    rows = [", ".join([a, *(draw(st.sampled_from(_TYPES[types[name]])) for name in "bcd")]) for a in firsts]
    return f"insert ignore into t values ({'), ('.join(rows[:5])})"


def _transactions(types: dict[str, str]) -> st.SearchStrategy[str]:
    return st.one_of(_statement(types), _grouped(types, "commit"), _grouped(types, "rollback"))


def _grouped(types: dict[str, str], end: str) -> st.SearchStrategy[str]:
    several = st.lists(_statement(types), min_size=1, max_size=4)
    return several.map(lambda statements: f"begin; {'; '.join(statements)}; {end}")


def _statement(types: dict[str, str]) -> st.SearchStrategy[str]:
    return st.one_of(_insert(types), _insert(types), _update(types), _delete(types))


def _value(kind: str) -> st.SearchStrategy[str]:
    pool = _TYPES[kind]
    return st.sampled_from((*pool, *pool, "null"))


@st.composite
def _insert(draw: st.DrawFn, types: dict[str, str]) -> str:
    names = [name for name in types if name in "ab" or draw(st.booleans())]
    row = st.tuples(*(_value(types[name]) for name in names)).map(lambda values: f"({', '.join(values)})")
    rows = ", ".join(draw(st.lists(row, min_size=1, max_size=3)))
    verb = draw(st.sampled_from(("insert", "insert", "insert ignore", "replace")))
    changed = draw(st.sampled_from(names))
    update = f" on duplicate key update {changed} = " + draw(
        st.sampled_from((f"values({changed})", "default")) | _value(types[changed])
    )
    tail = update if verb == "insert" and draw(st.booleans()) else ""
    return f"{verb} into t ({', '.join(names)}) values {rows}{tail}"


@st.composite
def _update(draw: st.DrawFn, types: dict[str, str]) -> str:
    names = draw(st.lists(st.sampled_from(sorted(types)), min_size=1, max_size=2, unique=True))
    changes = ", ".join(f"{name} = {draw(_value(types[name]))}" for name in names)
    return f"update t set {changes}{draw(_choice(types))}"


def _delete(types: dict[str, str]) -> st.SearchStrategy[str]:
    return _choice(types).map(lambda choice: f"delete from t{choice}")


@st.composite
def _choice(draw: st.DrawFn, types: dict[str, str]) -> str:
    name = draw(st.sampled_from([name for name, kind in types.items() if kind != "json"]))
    operator = draw(st.sampled_from(("=", "<=>", ">=", "<>")))
    where = f" where {name} {operator} {draw(_value(types[name]))}" if draw(st.booleans()) else ""
    order = f" order by {name} desc" if draw(st.booleans()) else ""
    return where + order + draw(st.sampled_from(("", " limit 1", " limit 2")))
