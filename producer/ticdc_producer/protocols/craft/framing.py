"""How rows share a message.

TiCDC closes a message after the row that brings it over one of the limits, so it never finds a row too
large. Source: tiflow ``craft_encoder.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ticdc_producer.protocols.arrow_text import Numbers, numbers
from ticdc_producer.protocols.batching import Limits, batched
from ticdc_producer.protocols.craft.options import CraftOptions
from ticdc_producer.protocols.craft.plan import RowForm
from ticdc_producer.protocols.craft.row_messages import row_messages
from ticdc_producer.protocols.encoded_rows import EncodedRows
from ticdc_producer.protocols.message_batch import MessageBatch


def messages(
    rows: Iterable[EncodedRows], forms: Sequence[RowForm], options: CraftOptions
) -> Iterator[MessageBatch]:
    """Messages of consecutive rows of one group each.

    :param forms: what the rows' ``form`` is a place in.
    :raises EncodeError: the refusal of a row that has one.
    """
    limits = Limits(rows=options.max_batch_size, size=options.max_message_bytes, rows_beyond=1)
    for batch in batched(rows, _estimates, limits, by_group=options.batch_by != "partition"):
        yield row_messages(batch, forms)


def _estimates(rows: EncodedRows) -> Numbers:
    return numbers(rows.column("estimate"))
