"""Differences between the profiles in Open Protocol; chosen when a plan is compiled.

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
class ProfileRules:
    """The format of one profile.

    :param strings: format of JSON strings.
    :param floats: format of FLOAT and DOUBLE values.
    :param sorted_columns: columns are sorted by the bytes of their names, as Go marshals a map; otherwise
        they are in table order.
    :param empty_names: empty ``scm`` and ``tbl`` are written.
    :param row_id: row keys can contain ``rid``.
    :param partition_last: ``ptn`` is the last member of the key; otherwise it precedes ``t``.
    :param raw_text: bytes that are not UTF-8 are copied; otherwise they are replaced.
    :param empty_old: an update without old columns still has a ``p``.
    :param double_ohk: the key of a row in a claim-check object has ``ohk`` twice, first true, then false.
    """

    strings: JSONStrings
    floats: Renderer
    sorted_columns: bool
    empty_names: bool
    row_id: bool
    partition_last: bool
    raw_text: bool
    empty_old: bool
    double_ohk: bool

    def names(self, schema: str, table: str) -> bytes:
        """``,"scm":…,"tbl":…`` of a key."""
        scm = b',"scm":' + self.strings.literal(schema) if schema or self.empty_names else b""
        tbl = b',"tbl":' + self.strings.literal(table) if table or self.empty_names else b""
        return scm + tbl

    def large_row_members(self, location: str) -> bytes:
        """The members of the key of a row that carries only its handle key.

        :param location: location of its claim-check object; empty if there is none.
        """
        if not location:
            return b',"ohk":true'
        doubled = b',"ohk":true,"ohk":false' if self.double_ohk else b""
        return doubled + b',"ccl":' + self.strings.literal(location)


PROFILE_RULES: dict[Profile, ProfileRules] = {
    "classic": ProfileRules(
        strings=go_json.STRINGS,
        floats=go_float.numbers,
        sorted_columns=True,
        empty_names=False,
        row_id=True,
        partition_last=False,
        raw_text=False,
        empty_old=False,
        double_ohk=False,
    ),
    "new": ProfileRules(
        strings=jsoniter.STRINGS,
        floats=jsoniter.floats,
        sorted_columns=False,
        empty_names=True,
        row_id=False,
        partition_last=True,
        raw_text=True,
        empty_old=True,
        double_ohk=True,
    ),
}
