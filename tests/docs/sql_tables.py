"""The lists of ``docs/sql.md``, from the SQL engine's code and from the examples that tests run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from tests.docs.markdown import code, listed, table
from tests.scenario.sql.random_joins import DIFFERENCES
from tests.scenario.sql.reference import ALTER_PARTS, DEFINITIONS, EXPRESSIONS, STATEMENTS, VARIABLES, Example
from tests.scenario.sql.refusals import REFUSED, REJECTED_BY_TIDB
from ticdc_producer.model.values.collation import DEFAULT_COLLATIONS, KNOWN
from ticdc_producer.scenario.sql.functions import MODULES, REASONS
from ticdc_producer.scenario.sql.functions.aggregate import AGGREGATES
from ticdc_producer.scenario.sql.functions.session import SESSION_FUNCTIONS
from ticdc_producer.scenario.sql.functions.window import WINDOW_FUNCTIONS
from ticdc_producer.scenario.sql.session.session_settings import READ_VARIABLES
from ticdc_producer.scenario.sql.session.variables import SQL_MODES, WITHOUT_EFFECT
from ticdc_producer.scenario.sql.syntax.column_type import TYPE_NAMES

_LONGEST = 90


def _examples(groups: Mapping[str, Sequence[Example]]) -> str:
    return table(["", "what", "example"], _rows(groups))


def _rows(groups: Mapping[str, Sequence[Example]]) -> Iterator[list[str]]:
    for group, examples in groups.items():
        for position, example in enumerate(examples):
            yield ["" if position else group, example.construct, _code(example.sql)]


def _code(sql: str) -> str:
    return code(sql if len(sql) <= _LONGEST else sql[: sql.rindex(" ", 0, _LONGEST)] + " …")


def types() -> str:
    charsets = listed(sorted(DEFAULT_COLLATIONS))
    return f"{listed(TYPE_NAMES)}.\n\nCharsets: {charsets}.\n\nCollations: {listed(sorted(KNOWN))}.\n"


def expressions() -> str:
    return table(["what", "example"], [[what, _code(text)] for what, text in EXPRESSIONS.items()])


def functions() -> str:
    return "".join(
        f"- {subject} {listed(sorted(names))}\n"
        for subject, names in (
            *(((module.__doc__ or "").splitlines()[0], module.FUNCTIONS) for module in MODULES),
            ("Aggregate functions of queries.", AGGREGATES),
            (
                "Window functions; aggregate functions but `GROUP_CONCAT` may have OVER, too.",
                WINDOW_FUNCTIONS,
            ),
            ("Character sets and collations of values.", ("CHARSET", "COLLATION")),
            ("Functions of the session; random values follow the scenario's seed.", SESSION_FUNCTIONS),
        )
    )


def rejected_functions() -> str:
    return "".join(f"- {reason}: {listed(names)}\n" for reason, names in REASONS.items())


def variables() -> str:
    rows = [[code(name), _code(sql)] for name, sql in VARIABLES.items()]
    return (
        table(["variable", "example"], rows)
        + f"\nSupported values of `sql_mode`: {listed(sorted(SQL_MODES))}.\n"
        + f"\nAn expression may read, as `@@name`: {listed(READ_VARIABLES)}.\n"
        + f"\nAccepted without an effect: {listed(sorted(WITHOUT_EFFECT))}.\n"
    )


def differences() -> str:
    return table(["left out, or accepted", "why"], [[what, why] for what, why in DIFFERENCES.items()])


def rejected() -> str:
    rows = [
        ["" if position else group, f"{rejection.named} …", _code(rejection.sql)]
        for group, rejections in REFUSED.items()
        for position, rejection in enumerate(rejections)
    ]
    named = dict.fromkeys(rejection.named for rejection in REJECTED_BY_TIDB)
    return (
        table(["", "text in the error", "example"], rows)
        + f"\nTiDB rejects these, too: {'; '.join(named)}.\n"
    )


TABLES: dict[str, Callable[[], str]] = {
    "sql-statements": lambda: _examples(STATEMENTS),
    "sql-alter": lambda: _examples(ALTER_PARTS),
    "sql-definitions": lambda: _examples(DEFINITIONS),
    "sql-types": types,
    "sql-expressions": expressions,
    "sql-functions": functions,
    "sql-rejected-functions": rejected_functions,
    "sql-variables": variables,
    "sql-rejected": rejected,
    "sql-differences": differences,
}
