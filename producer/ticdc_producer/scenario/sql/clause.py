"""Names clauses of sqlglot's trees by the words that users write."""

from __future__ import annotations

from sqlglot import exp

from ticdc_producer.errors import UnsupportedSQL

_WORDS = {
    "joins": "JOIN", "alias": "an alias", "tables": "several tables", "with_": "WITH", "group": "GROUP BY",
    "locks": "FOR UPDATE", "windows": "WINDOW", "from_": "FROM", "laterals": "LATERAL", "hint": "a hint",
    "pivots": "PIVOT", "catalog": "a catalog",
}  # fmt: skip


def clauses(node: exp.Expr) -> set[str]:
    """sqlglot's names of the clauses that a node has."""
    return {name for name, part in node.args.items() if part}


def refuse_other_clauses(node: exp.Expr, statement: str, *known: str) -> None:
    """:raises UnsupportedSQL: for a clause that is not among the known ones."""
    others = sorted(clauses(node) - set(known))
    if others:
        word = _WORDS.get(others[0], others[0].upper())
        raise UnsupportedSQL(f"{statement} with {word} is not supported")
