"""The event types that ``ignore-event`` of an event filter names, and the DDL jobs that each contains.

Source: tiflow and ticdc ``pkg/filter/filter.go`` and ``ddl.go`` (``ddlWhiteListMap``), ``utils.go``
(``alterTableSubType``, ``SupportedEventTypes``), ``pkg/binlog-filter``.
"""

from __future__ import annotations

from collections.abc import Collection

from ticdc_producer.config.config_section import EventFilter
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.catalog import Action, DDLJob
from ticdc_producer.model.event import Op
from ticdc_producer.model.parameter import Profile

A = Action

_TYPES: dict[str, tuple[Action, ...]] = {
    "create database": (A.CREATE_SCHEMA,),
    "drop database": (A.DROP_SCHEMA,),
    "modify schema charset and collate": (A.MODIFY_SCHEMA_CHARSET,),
    "create table": (A.CREATE_TABLE,),
    "drop table": (A.DROP_TABLE,),
    "truncate table": (A.TRUNCATE_TABLE,),
    "rename table": (A.RENAME_TABLE, A.RENAME_TABLES),
    "recover table": (),
    "modify table comment": (A.MODIFY_TABLE_COMMENT,),
    "modify table charset and collate": (A.MODIFY_TABLE_CHARSET,),
    "create view": (A.CREATE_VIEW,),
    "drop view": (A.DROP_VIEW,),
    "add table partition": (A.ADD_TABLE_PARTITION,),
    "drop table partition": (A.DROP_TABLE_PARTITION,),
    "truncate table partition": (A.TRUNCATE_TABLE_PARTITION,),
    "exchange table partition": (A.EXCHANGE_TABLE_PARTITION,),
    "reorganize table partition": (A.REORGANIZE_PARTITION,),
    "alter table partitioning": (A.ALTER_TABLE_PARTITIONING,),
    "remove table partitioning": (A.REMOVE_PARTITIONING,),
    "add column": (A.ADD_COLUMN,),
    "drop column": (A.DROP_COLUMN,),
    "modify column": (A.MODIFY_COLUMN,),
    "set default value": (A.SET_DEFAULT_VALUE,),
    "rebase auto id": (A.REBASE_AUTO_ID,),
    "add primary key": (A.ADD_PRIMARY_KEY,),
    "drop primary key": (A.DROP_PRIMARY_KEY,),
    "create index": (A.ADD_INDEX,),
    "drop index": (A.DROP_INDEX,),
    "rename index": (A.RENAME_INDEX,),
    "alter index visibility": (A.ALTER_INDEX_VISIBILITY,),
    "alter ttl info": (A.ALTER_TTL,),
    "alter ttl remove": (A.REMOVE_TTL,),
    "multi schema change": (A.MULTI_SCHEMA_CHANGE,),
    "add foreign key": (A.ADD_FOREIGN_KEY,),
    "drop foreign key": (A.DROP_FOREIGN_KEY,),
}
"""Each DDL job that TiCDC replicates has one type. This tool does not execute RECOVER TABLE."""

_TYPES_OF_NEW = ("add fulltext index", "create hybrid index")
"""Types of statements that only the TiCDC new architecture knows, and that this tool does not execute."""
_FOREIGN_KEYS = frozenset({"add foreign key", "drop foreign key"})
_ALIASES = {"create schema": "create database", "drop schema": "drop database"}

_NOT_ALTER_TABLE = frozenset({
    A.CREATE_SCHEMA, A.DROP_SCHEMA, A.MODIFY_SCHEMA_CHARSET, A.CREATE_TABLE, A.DROP_TABLE, A.TRUNCATE_TABLE,
    A.CREATE_VIEW, A.DROP_VIEW, A.ADD_FOREIGN_KEY, A.DROP_FOREIGN_KEY,
})  # fmt: skip
_BY_ACTION = {action: name for name, actions in _TYPES.items() for action in actions}
_ALTER_TABLE = frozenset(_BY_ACTION.keys() - _NOT_ALTER_TABLE)

_ROWS = {"insert": (Op.INSERT,), "update": (Op.UPDATE,), "delete": (Op.DELETE,), "all dml": tuple(Op)}


def event_types(profile: Profile) -> tuple[str, ...]:
    """Return the names that ``ignore-event`` may have."""
    own = _TYPES_OF_NEW if profile == "new" else ()
    return (*_ROWS, "all ddl", "alter table", *_ALIASES, *_TYPES, *own)


def check_event_types(rule: EventFilter, key: str, profile: Profile) -> None:
    """Check the names of a rule.

    :param key: the rule's key in the changefeed file.
    :raises ChangefeedError: for a name that TiCDC does not know.
    """
    known = event_types(profile)
    for name in rule.ignore_event:
        if name.lower() not in known:
            key = f"{key}.ignore-event"
            what = f"there is no event type {name!r}"
            raise ChangefeedError(what, parameter=key, where=key, hint=nearest(name, known))


def is_inert(rule: EventFilter, profile: Profile) -> bool:
    """Return whether TiCDC logs that a rule is invalid, and then ignores nothing by its types and texts.

    The new architecture accepts the two types of foreign keys and does not know them when it builds the rule
    (``pkg/binlog-filter/util.go``, ``toEventType``).
    """
    return profile == "new" and not _FOREIGN_KEYS.isdisjoint(_names(rule))


def ignored_rows(rule: EventFilter, profile: Profile) -> frozenset[Op]:
    """Return the operations whose row events a rule ignores."""
    if is_inert(rule, profile):
        return frozenset()
    return frozenset(op for name in _names(rule) for op in _ROWS.get(name, ()))


def ignores_type(rule: EventFilter, ddl: DDLJob) -> bool:
    """Return whether the types of a rule contain a DDL."""
    action, names = Action(ddl.job_type), _names(rule)
    kinds: Collection[str] = ("all ddl", _BY_ACTION.get(action, ""))
    return not names.isdisjoint(kinds) or ("alter table" in names and action in _ALTER_TABLE)


def check_classified(ddl: DDLJob, profile: Profile) -> None:
    """Reject a DDL that stops TiCDC if an event filter concerns its table.

    :raises ChangefeedError: for a DDL of foreign keys in the new architecture, which cannot classify it
        (``pkg/binlog-filter/filter.go``, ``ClassifyEvent``).
    """
    name = _BY_ACTION.get(Action(ddl.job_type), "")
    if profile == "new" and name in _FOREIGN_KEYS:
        raise ChangefeedError(
            f"event type {name} not valid",
            parameter="filter.event-filters",
            where=f"line {ddl.line}" if ddl.line else "",
            hint="TiCDC new architecture stops at a DDL of foreign keys if a matcher accepts its table",
        )


def _names(rule: EventFilter) -> frozenset[str]:
    return frozenset(_ALIASES.get(name.lower(), name.lower()) for name in rule.ignore_event)
