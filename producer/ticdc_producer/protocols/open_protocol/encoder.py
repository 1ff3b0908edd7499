"""Encoder of Open Protocol: keys and values of a batch of rows, and the frames in which rows share a message.

``key := version { length key-json }``, ``value := { length value-json }``; lengths and version are 8
bytes, big-endian. Source: tiflow ``open_protocol_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.errors import EncodeError
from ticdc_producer.model.column_functions import Numbers
from ticdc_producer.model.event import DDLEvent, Kind, Message, Op
from ticdc_producer.model.fidelity import Fidelity, OldValues
from ticdc_producer.model.mysql_type import STRINGS
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.arrow_text import Fragment, concat, fixed_width, integers, lengths, merge_runs
from ticdc_producer.protocols.base import RowBatch
from ticdc_producer.protocols.batch_options import OpenOptions
from ticdc_producer.protocols.compression import all_compressed, claim_name, compressed
from ticdc_producer.protocols.encoded_rows import EncodedRows, MessageLimits, RowStatus, batched, encoded_rows
from ticdc_producer.protocols.large_message import RECORD_OVERHEAD, LargeMessages, NameClaim
from ticdc_producer.protocols.message_batch import MessageBatch
from ticdc_producer.protocols.open_protocol.decoder import LENGTH, VERSION
from ticdc_producer.protocols.open_protocol.plan import PROFILE_RULES, OpenTablePlan, table_plan

_PAIR_OF_LENGTHS = 2 * LENGTH.size
_HEAD = len(VERSION) + RECORD_OVERHEAD


def framed(key: bytes, value: bytes, kind: Kind, commit_ts: int) -> Message:
    """Return a message of one event."""
    return Message(VERSION + _block(key), _block(value), kind.label, commit_ts)


def _block(json: bytes) -> bytes:
    return LENGTH.pack(len(json)) + json


def messages(rows: Iterable[EncodedRows], options: OpenOptions) -> Iterator[MessageBatch]:
    """Yield messages of consecutive rows, each with as many rows of one batch key as the two limits allow.

    :raises EncodeError: for the first row that TiCDC rejects.
    """
    limits = MessageLimits(rows=options.max_batch_size, size=options.max_message_bytes - _HEAD)
    for batch in batched(rows, _sizes, limits, by_batch_key=options.batch_by != "partition"):
        keys, values = (_blocks(batch.rows.column(name)) for name in ("key", "value"))
        starts = batch.starts
        yield MessageBatch(
            key=concat((VERSION, merge_runs(keys, starts)), len(starts)),
            value=merge_runs(values, starts),
            commit_ts=batch.first("commit_ts"),
            events=pa.array(batch.counts),
            claims=batch.claims,
        )


def _blocks(texts: pa.Array) -> pa.Array:
    """Prepend the length of each text.

    >>> _blocks(pa.array([b"{}"])).to_pylist()
    [b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02{}']
    """
    prefixes = fixed_width(lengths(texts).astype(">u8").tobytes(), LENGTH.size)
    return concat((prefixes, texts), len(texts))


def _sizes(rows: EncodedRows) -> Numbers:
    """Return the bytes that each row adds to a message."""
    return lengths(rows.column("key")) + lengths(rows.column("value")) + _PAIR_OF_LENGTHS


def single_lengths(rows: EncodedRows) -> Numbers:
    """Return the bytes of messages of one event each, as TiCDC counts them against ``max-message-bytes``."""
    return _sizes(rows) + _HEAD


_NONE = pa.scalar(b"", pa.binary())


@dataclass(frozen=True, slots=True)
class OpenRowMessages:
    """The keys and values of one batch of rows."""

    plan: OpenTablePlan
    batch: RowBatch
    options: OpenOptions

    def keys(self, large_row_members: Sequence[Fragment] = ()) -> pa.Array:
        """Return the key of every row.

        Order of members: ts, scm, tbl, rid, ptn, t, ohk, ccl; in TiCDC new architecture ts, scm, tbl, t,
        ohk, ccl, ptn.

        :param large_row_members: ``,"ohk":true`` or ``,"ccl":…`` of rows that carry only their handle key.
        """
        plan = self.plan
        ptn: list[Fragment] = [b',"ptn":', integers(self.batch.table_id)] if plan.partitioned else []
        before, after = ([], ptn) if plan.rules.partition_last else (ptn, [])
        head = [b'{"ts":', integers(self.batch.commit_ts), plan.key_head, *self._row_ids(), *before]
        return concat([*head, b',"t":1', *large_row_members, *after, b"}"], len(self.batch))

    def _row_ids(self) -> Iterator[Fragment]:
        """Yield ``rid``, which is omitted if it is 0."""
        if not self.options.output_row_id or not self.plan.rules.row_id:
            return
        ids = self.batch.row_id
        present = pc.not_equal(ids, 0)
        if pc.all(present).as_py():
            yield from (b',"rid":', integers(ids))
        elif pc.any(present).as_py():
            yield pc.if_else(present, concat((b',"rid":', integers(ids)), len(ids)), _NONE)

    def values(self, table: TableInfo) -> pa.Array:
        """Return the value of every row."""
        by_key = self.options.delete_only_output_handle_key_columns and table.handle_index is not None
        return self._packed(self._row(deleted_key_only=by_key))

    def length(self, rows: EncodedRows) -> Numbers:
        return single_lengths(rows)

    def complete_message(self, key: bytes, value: bytes) -> tuple[bytes | None, bytes]:
        message = framed(key, value, Kind.ROW, 0)
        return message.key, message.value or b""

    def handle_key_messages(
        self, rows: Sequence[int], locations: Sequence[str]
    ) -> Iterator[tuple[bytes, bytes]]:
        large = OpenRowMessages(self.plan, self.batch.take(pa.array(rows)), self.options)
        locations = locations or [""] * len(rows)
        members = [self.plan.rules.large_row_members(location) for location in locations]
        keys = large.keys([pa.array(members, pa.binary())])
        return zip(keys.to_pylist(), large._handle_key_values().to_pylist(), strict=True)

    def _row(self, *, deleted_key_only: bool) -> list[Fragment]:
        plan, batch = self.plan, self.batch
        if batch.op == Op.DELETE:
            return [b'{"d":{', *plan.members(batch.before, handle_key_only=deleted_key_only), b"}}"]
        new = [b'{"u":{', *plan.members(batch.after), b"}"]
        if batch.op == Op.INSERT or not self.options.output_old_value:
            return [*new, b"}"]
        if self.options.only_output_updated_columns:
            changed = plan.changed_members(batch.before, batch.after)
            return [*new, *self._changed(changed), b"}"]
        return [*new, b',"p":{', *plan.members(batch.before), b"}}"]

    def _handle_key_values(self) -> pa.Array:
        """Return values with the handle key only.

        The handle key in an update's ``p`` always equals that in ``u``: otherwise the update is split.
        """
        plan, batch = self.plan, self.batch
        members = plan.members(batch.primary_images, handle_key_only=True)
        if batch.op == Op.DELETE:
            return self._packed([b'{"d":{', *members, b"}}"])
        row: list[Fragment] = [b'{"u":{', *members, b"}"]
        if batch.op == Op.UPDATE and self.options.output_old_value:
            if not self.options.only_output_updated_columns:
                row += [b',"p":{', *plan.members(batch.before, handle_key_only=True), b"}"]
            elif plan.rules.empty_old:
                row.append(b',"p":{}')
        return self._packed([*row, b"}"])

    def _changed(self, members: pa.Array) -> list[Fragment]:
        """Return ``p`` of updates that contain only changed columns."""
        if self.plan.rules.empty_old:
            return [b',"p":{', members, b"}"]
        old = concat((b',"p":{', members, b"}"), len(members))
        return [pc.if_else(pc.equal(members, _NONE), _NONE, old)]

    def _packed(self, fragments: Sequence[Fragment]) -> pa.Array:
        return all_compressed(
            concat(fragments, len(self.batch)), self.options.large_message_handle_compression
        )


class OpenEncoder:
    """An encoder of events as messages; it caches one compiled plan per table version."""

    def __init__(self, options: OpenOptions | None = None, *, name_claim: NameClaim = claim_name) -> None:
        self.options = options or OpenOptions()
        self._large = LargeMessages(self.options, name_claim)
        self._rules = PROFILE_RULES[self.options.profile]
        self._plans: dict[TableInfo, OpenTablePlan] = {}

    def rows(self, table: TableInfo, batch: RowBatch) -> EncodedRows:
        """Encode rows of one table version; see ``protocols.base.Encoder``."""
        forms = OpenRowMessages(self._plan(table), batch, self.options)
        rows = encoded_rows(forms.keys(), forms.values(table), batch.commit_ts)
        rows = self._large.apply_size_limit(rows, table, forms)
        return rows if table.handle_index is not None else self._without_handle_key(table, batch.op, rows)

    def messages(self, rows: Iterable[EncodedRows]) -> Iterator[MessageBatch]:
        """Frame consecutive rows of one partition."""
        return messages(rows, self.options)

    def ddl(
        self,
        event: DDLEvent,
        table: TableInfo | None = None,  # noqa: ARG002  # only some protocols describe tables
        before: TableInfo | None = None,  # noqa: ARG002  # and none its former state
    ) -> Message:
        names = self._rules.names(event.schema, event.table)
        key = b'{"ts":%d%b,"t":2}' % (event.commit_ts, names)
        value = b'{"q":%b,"t":%d}' % (self._rules.strings.literal(event.query), event.ddl_type)
        value = compressed(value, self.options.large_message_handle_compression)
        return framed(key, value, Kind.DDL, event.commit_ts)

    def resolved(self, ts: int) -> Message:
        """Return a resolved event; its value is a length of 0, not an empty value."""
        return framed(b'{"ts":%d,"t":3}' % ts, b"", Kind.RESOLVED, ts)

    @property
    def fidelity(self) -> Fidelity:
        options = self.options
        old: OldValues = "updated" if options.only_output_updated_columns else "all"
        keeps_invalid_utf8 = options.legacy_varchar_base64 or self._rules.raw_text  # TEXT is sent as Base64
        return Fidelity(
            sorted_columns=self._rules.sorted_columns,
            old_values=old if options.output_old_value else "none",
            deletes="handle-key" if options.delete_only_output_handle_key_columns else "all",
            names_operation=options.output_old_value and self._rules.empty_old,
            flags=not options.legacy_no_flag,
            caches_flags=options.profile == "new",
            damaged_text=frozenset() if keeps_invalid_utf8 else STRINGS,
        )

    def _plan(self, table: TableInfo) -> OpenTablePlan:
        if table not in self._plans:
            self._plans[table] = table_plan(table, self.options)
        return self._plans[table]

    def _without_handle_key(self, table: TableInfo, op: Op, rows: EncodedRows) -> EncodedRows:
        """Reject the rows that would contain only their handle key, in a table without a handle key."""
        statuses = dict(rows.statuses)
        by_key = op == Op.DELETE and self.options.delete_only_output_handle_key_columns
        candidates = range(len(rows)) if by_key else list(statuses)
        commits = rows.column("commit_ts")
        for row in candidates:
            status = statuses.get(row, RowStatus())
            if by_key or status.handle_key_only or status.claim:
                statuses[row] = replace(status, refusal=_no_handle_key(table, commits[row].as_py()))
        return EncodedRows(rows.columns, statuses)


def _no_handle_key(table: TableInfo, commit_ts: int) -> EncodeError:
    return EncodeError(
        "the row has no handle key columns to show",
        code="CDC:ErrOpenProtocolCodecInvalidData",
        table=table.qualified_name,
        commit_ts=commit_ts,
        hint="turn handle-key-only options off for tables without a handle key",
    )
