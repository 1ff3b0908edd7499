"""The names of the kinds of DDL in Maxwell.

Source: tiflow ``maxwell_message.go`` (``ddlToMaxwellType``), and for the others tidb
``pkg/meta/model/job.go`` (``ActionMap``).
"""

from __future__ import annotations

OF_DATABASES = {1: "database-create", 2: "database-drop", 26: "database-alter"}
_CREATE, _DROP, ALTER = "table-create", "table-drop", "table-alter"
_ALTERING = (*range(5, 21), 22, 23, 27, 28, 29, 33, 37, 38, 41, 42)
_OTHERS = {
    21: "create view", 24: "drop view", 32: "add primary key", 61: "alter table multi-schema change",
    64: "alter table reorganize partition", 65: "alter table ttl", 67: "alter table no_ttl",
    71: "alter table partition by", 72: "alter table remove partitioning",
}  # fmt: skip
_TYPES = {3: _CREATE, 4: _DROP, **dict.fromkeys(_ALTERING, ALTER), **OF_DATABASES, **_OTHERS}
_ACTIONS = {name: action for action, name in _TYPES.items() if name != ALTER}
_UNKNOWN = "none"


def type_text(action: int) -> str:
    """Return the name of the kind of a DDL."""
    return _TYPES.get(action, _UNKNOWN)


def action_code(text: str) -> int | None:
    """Return TiDB's action code; 0 if the name has several, None if there is no such name.

    >>> action_code("table-create"), action_code("table-alter"), action_code("table")
    (3, 0, None)
    """
    return 0 if text in (ALTER, _UNKNOWN) else _ACTIONS.get(text)
