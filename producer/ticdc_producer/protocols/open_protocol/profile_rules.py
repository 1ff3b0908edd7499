"""What the two programs write differently; chosen when a plan is compiled.

Sources: tiflow ``pkg/sink/codec/open/open_protocol_message.go`` (structs and maps, by ``encoding/json``),
ticdc ``pkg/sink/codec/open/codec.go`` (field by field, by json-iterator).
"""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.profile import Profile
from ticdc_producer.protocols import go_float, go_json, jsoniter
from ticdc_producer.protocols.arrow_text import Renderer
from ticdc_producer.protocols.json_strings import JSONStrings


@dataclass(frozen=True, slots=True)
class Dialect:
    """One program's habits.

    :param sorted_columns: columns stand in the byte order of their names, as Go marshals a map; else in
        table order.
    :param empty_names: ``scm`` and ``tbl`` are written when empty.
    :param row_id: row keys can hold ``rid``.
    :param partition_last: ``ptn`` stands at the end of the key, else before ``t``.
    :param raw_text: bytes that are not UTF-8 are copied, else replaced.
    :param empty_old: an update that shows no old column still has a ``p``.
    :param double_mark: the key of a stored row says that it is its handle key alone, and then that not.
    """

    strings: JSONStrings
    floats: Renderer
    sorted_columns: bool
    empty_names: bool
    row_id: bool
    partition_last: bool
    raw_text: bool
    empty_old: bool
    double_mark: bool

    def names(self, schema: str, table: str) -> bytes:
        """``,"scm":…,"tbl":…`` of a key."""
        scm = b',"scm":' + self.strings.literal(schema) if schema or self.empty_names else b""
        tbl = b',"tbl":' + self.strings.literal(table) if table or self.empty_names else b""
        return scm + tbl

    def marks(self, location: str) -> bytes:
        """What a key says of a row that is not whole.

        :param location: of its claim-check object, empty if there is none.
        """
        if not location:
            return b',"ohk":true'
        doubled = b',"ohk":true,"ohk":false' if self.double_mark else b""
        return doubled + b',"ccl":' + self.strings.literal(location)


DIALECTS: dict[Profile, Dialect] = {
    "classic": Dialect(
        strings=go_json.STRINGS,
        floats=go_float.numbers,
        sorted_columns=True,
        empty_names=False,
        row_id=True,
        partition_last=False,
        raw_text=False,
        empty_old=False,
        double_mark=False,
    ),
    "new": Dialect(
        strings=jsoniter.STRINGS,
        floats=jsoniter.floats,
        sorted_columns=False,
        empty_names=True,
        row_id=False,
        partition_last=True,
        raw_text=True,
        empty_old=True,
        double_mark=True,
    ),
}
