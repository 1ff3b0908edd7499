"""The router: the dispatch rule that applies to a table, and the resulting topic and partition key.

Rules: tiflow ``cdc/sink/dmlsink/mq/dispatcher/event_router.go``, ``topic/expression.go``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from zlib import crc32

from ticdc_producer.config import Changefeed, DispatchRule
from ticdc_producer.config.sink_uri import MAX_TOPIC_LENGTH, check_topic
from ticdc_producer.dispatch.matcher import Matcher
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.column import IndexInfo
from ticdc_producer.model.mysql_type import INTEGERS
from ticdc_producer.model.parameter import SinkKind
from ticdc_producer.model.table import TableInfo

_FIXED = re.compile(r"[A-Za-z0-9._-]+")
_EXPRESSION = re.compile(r"[A-Za-z0-9._-]*(\{schema\})?([A-Za-z0-9._-]*\{table\})?[A-Za-z0-9._-]*")
_PULSAR_NAME = re.compile(r"(?:non-)?persistent://[A-Za-z0-9{}._-]*/[A-Za-z0-9{}._-]*/[A-Za-z0-9{}._-]*")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class TopicExpression:
    """A topic expression; create it with ``parse``.

    :param text: the expression of the changefeed file, or the default topic if that is empty.
    """

    text: str

    @classmethod
    def parse(cls, text: str, default_topic: str, *, of_pulsar: bool = False) -> TopicExpression:
        """Parse the expression of a dispatch rule.

        :param default_topic: topic of the sink URI, used for an empty text.
        :param of_pulsar: whether the sink is Pulsar, whose topics may have full names.
        :raises ChangefeedError: if TiCDC or Kafka would reject it.
        """
        if not text:
            return cls(default_topic)
        try:
            if _FIXED.fullmatch(text):
                return cls(check_topic(text))
        except ValueError as error:
            raise ChangefeedError(str(error), parameter="topic") from None
        if of_pulsar and _PULSAR_NAME.fullmatch(text):
            return cls(text)
        if not _EXPRESSION.fullmatch(text):
            raise ChangefeedError(
                f"{text!r} is not a topic expression",
                parameter="topic",
                hint="A-Z a-z 0-9 . _ - and, each at most once and in this order, {schema} and {table}",
            )
        return cls(text)

    def topic(self, schema: str, table: str) -> str:
        """Return the topic of a table."""
        if "{" not in self.text:
            return self.text
        name = self.text.replace("{schema}", _FORBIDDEN.sub("_", schema))
        name = name.replace("{table}", _FORBIDDEN.sub("_", table))
        if name in (".", ".."):
            return "_" * len(name)
        return name[:MAX_TOPIC_LENGTH]


RuleName: TypeAlias = Literal["table", "index-value", "columns", "ts"]

_RULES: dict[str, RuleName] = {
    "": "table", "default": "table", "table": "table", "ts": "ts", "columns": "columns",
    "index-value": "index-value", "rowid": "index-value",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Route:
    """The topic and partition rule of one table version.

    :param rule: the partition rule.
    :param key_columns: columns whose values are hashed: name and index in the row image.
    :param base_hash: CRC-32 of schema and table name, unsigned.
    :param table_key: ``schema.table``, the dispatch key of the rule ``table``; of a rule that only Pulsar
        has, its text.
    :param skips_null: whether columns that are NULL are not hashed, as in TiCDC new architecture.
    """

    topic: str
    rule: RuleName
    key_columns: tuple[tuple[str, int], ...]
    base_hash: int
    table_key: str
    skips_null: bool = False


@dataclass(frozen=True, slots=True)
class PartitionRule:
    """A partition rule with its parameters, as configured in the changefeed.

    :param index: index name of the rule ``index-value``; empty for the handle key.
    :param columns: columns of the rule ``columns``.
    """

    rule: RuleName
    index: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    matcher: Matcher
    topic: TopicExpression
    rule: RuleName
    partition_key: str | None
    index: str
    columns: tuple[str, ...]


class Router:
    """The dispatch rules of a changefeed.

    :ivar warnings: deprecated and unknown partition rules, which TiCDC accepts with a warning.
    :raises ChangefeedError: for a matcher or topic expression that cannot be parsed.
    """

    def __init__(self, changefeed: Changefeed) -> None:
        self.default_topic = changefeed.sink_uri.topic
        self.warnings: list[str] = []
        self._skips_null = changefeed.profile == "new"
        self._of_pulsar = changefeed.sink_uri.kind is SinkKind.PULSAR
        everything = DispatchRule(matcher=("*.*",), partition="default")
        self._entries = [
            self._entry(rule, f"sink.dispatchers[{index}]", changefeed.case_sensitive)
            for index, rule in enumerate((*changefeed.dispatchers, everything))
        ]

    def _entry(self, rule: DispatchRule, key: str, case_sensitive: bool) -> _Entry:
        try:
            matcher = Matcher(rule.matcher, case_sensitive=case_sensitive)
            topic = TopicExpression.parse(rule.topic, self.default_topic, of_pulsar=self._of_pulsar)
        except ChangefeedError as error:
            raise error.below(key) from None
        name = self._rule_name(rule)
        return _Entry(key, matcher, topic, name, self._partition_key(rule), rule.index, rule.columns)

    def _partition_key(self, rule: DispatchRule) -> str | None:
        """Return the text of a rule that is the partition key of all its rows; None for another rule.

        An empty text, of a rule without ``partition``, means no key. Source: ticdc
        ``downstreamadapter/sink/eventrouter/partition/generator.go``; tiflow ``event_router.go``.
        """
        name = rule.rule.lower()
        return rule.rule if self._of_pulsar and (not name or name not in _RULES) else None

    def _rule_name(self, rule: DispatchRule) -> RuleName:
        name = rule.rule.lower()
        if rule.dispatcher:
            self.warnings.append("dispatcher is the deprecated name of partition")
        if name == "rowid":
            self.warnings.append("partition rule 'rowid' is the deprecated name of 'index-value'")
        if name not in _RULES and not self._of_pulsar:
            advice = nearest(name, ["default", "table", "index-value", "columns", "ts"])
            self.warnings.append(f"unknown partition rule {rule.rule!r}: TiCDC uses 'default' ({advice})")
        return _RULES.get(name, "table")

    def _matching(self, schema: str, table: str) -> _Entry:
        return next(entry for entry in self._entries if entry.matcher.accepts(schema, table))

    def route(self, table: TableInfo) -> Route:
        """Return the route of a table's rows.

        :raises ChangefeedError: if the rule names an index or column that does not exist, an index that is
            not unique, or a column that messages do not contain.
        """
        schema, name = table.upstream_name
        entry = self._matching(schema, name)
        try:
            key_columns = _key_columns(entry, table)
        except ChangefeedError as error:
            raise error.below(entry.key) from None
        return Route(
            topic=entry.topic.topic(schema, name),
            rule=entry.rule,
            key_columns=key_columns,
            base_hash=crc32(f"{schema}{name}".encode()),
            table_key=f"{schema}.{name}" if entry.partition_key is None else entry.partition_key,
            skips_null=self._skips_null,
        )

    def rule_of(self, schema: str, table: str) -> PartitionRule:
        """Return the partition rule of a table, by its name."""
        entry = self._matching(schema, table)
        return PartitionRule(entry.rule, entry.index, entry.columns)

    def ddl_topic(self, old_schema: str, old_table: str, schema: str, table: str) -> str:
        """Return the topic of a DDL event, by the name of the table before the DDL, or else after it.

        DDL of a database is sent to the default topic.
        """
        if old_table:
            schema, table = old_schema, old_table
        return self._matching(schema, table).topic.topic(schema, table) if table else self.default_topic


def _key_columns(entry: _Entry, table: TableInfo) -> tuple[tuple[str, int], ...]:
    if entry.rule == "columns":
        return _with_image_index(table, [_column_offset(table, name) for name in entry.columns])
    if entry.rule == "index-value":
        index = _unique_index(table, entry.index) if entry.index else table.handle_index
        return _with_image_index(table, index.offsets) if index else ()
    return ()


def _column_offset(table: TableInfo, name: str) -> int:
    for offset, column in enumerate(table.columns):
        if column.name.lower() == name.lower():
            return offset
    hint = nearest(name, [column.name for column in table.sent_columns])
    raise _error(table, f"there is no column {name!r}", "columns", hint)


def _unique_index(table: TableInfo, name: str) -> IndexInfo:
    indexes = [index for index in table.indexes if not _is_integer_handle(table, index)]
    for index in indexes:
        if index.name.lower() == name.lower():
            if index.unique or index.primary:
                return index
            raise _error(table, f"index {name!r} is not unique", "index")
    if any(index.name.lower() == name.lower() for index in table.indexes):
        raise _error(
            table,
            f"{name!r} is the row's integer handle, which TiDB keeps no index for",
            "index",
            "leave index out: index-value takes the handle key",
        )
    allowed = [index.name for index in indexes if index.unique or index.primary]
    raise _error(table, f"there is no index {name!r}", "index", nearest(name, allowed))


def _is_integer_handle(table: TableInfo, index: IndexInfo) -> bool:
    return (
        index.primary
        and index.clustered
        and len(index.offsets) == 1
        and table.columns[index.offsets[0]].type in INTEGERS
    )


def _with_image_index(table: TableInfo, offsets: Sequence[int]) -> tuple[tuple[str, int], ...]:
    key_columns = []
    for offset in offsets:
        name, index = table.columns[offset].name, table.image_index(offset)
        if index is None:
            why = "virtual" if table.columns[offset].is_virtual else "left out by a column selector"
            raise _error(table, f"column {name!r} is {why} and in no row event", "partition")
        key_columns.append((name, index))
    return tuple(key_columns)


def _error(table: TableInfo, what: str, parameter: str, hint: str = "") -> ChangefeedError:
    where = f"dispatcher of {table.qualified_name}"
    return ChangefeedError(what, parameter=parameter, where=where, hint=hint)
