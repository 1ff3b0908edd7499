"""``[filter]`` and ``column-selectors`` of a changefeed file: which tables, events, columns are replicated.

Source: tiflow ``pkg/config/filter.go``, ``pkg/config/sink.go``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ticdc_producer.config.config_section import ConfigSection, Words

EVENT_TYPES = (
    "all dml", "all ddl", "insert", "update", "delete", "create schema", "create database", "drop schema",
    "drop database", "create table", "drop table", "rename table", "truncate table", "alter table",
    "create view", "drop view", "add table partition", "drop table partition", "truncate table partition",
)  # fmt: skip
"""What ``ignore-event`` may name (tiflow ``pkg/filter/sql_event_filter.go``)."""


class EventFilter(ConfigSection):
    """One entry of ``filter.event-filters``. An event that matches any entry is dropped.

    :param matcher: table filter patterns; the last one that matches decides; case-sensitive.
    :param ignore_event: kinds of events from ``EVENT_TYPES``.
    :param ignore_sql: regular expressions on the text of DDL.
    :param ignore_insert_value_expr: SQL condition on the new row of inserts; the other three fields work
        the same way.
    """

    matcher: Words
    ignore_event: Words = Field(default=(), alias="ignore-event")
    ignore_sql: Words = Field(default=(), alias="ignore-sql")
    ignore_insert_value_expr: str = Field(default="", alias="ignore-insert-value-expr")
    ignore_update_old_value_expr: str = Field(default="", alias="ignore-update-old-value-expr")
    ignore_update_new_value_expr: str = Field(default="", alias="ignore-update-new-value-expr")
    ignore_delete_value_expr: str = Field(default="", alias="ignore-delete-value-expr")


class FilterSection(ConfigSection):
    """``[filter]``

    :param rules: table filter patterns; the last one that matches decides; a table that matches none is not
        replicated.
    :param ignore_txn_start_ts: start-ts of transactions and DDL jobs that are not replicated.
    :param event_filters: which of the remaining events are not replicated.
    """

    rules: Words = ("*.*",)
    ignore_txn_start_ts: Annotated[tuple[int, ...], Field(strict=False)] = Field(
        default=(), alias="ignore-txn-start-ts"
    )
    event_filters: Annotated[tuple[EventFilter, ...], Field(strict=False)] = Field(
        default=(), alias="event-filters"
    )


class ColumnSelector(ConfigSection):
    """One entry of ``sink.column-selectors``. The first entry whose matcher accepts a table applies to it.

    :param matcher: table filter patterns.
    :param columns: column patterns; the last one that matches decides; columns that match none are left out.
    """

    matcher: Words
    columns: Words
