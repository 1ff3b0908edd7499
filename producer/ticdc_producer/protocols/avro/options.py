"""The options of Avro."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.hints import nearest
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.compression import DEFAULT_MAX_MESSAGE_BYTES

DecimalMode: TypeAlias = Literal["precise", "string"]
BigintUnsignedMode: TypeAlias = Literal["long", "string"]
_MODES = {
    "avro_decimal_handling_mode": ("precise", "string"),
    "avro_bigint_unsigned_handling_mode": ("long", "string"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroOptions:
    """Options of the encoding.

    :param profile: the TiCDC program whose output is written. Message keys have the handle key in classic
        TiCDC (tiflow), and only a primary key in TiCDC new architecture.
    :param max_message_bytes: maximum size of a message as TiCDC counts it, including the record overhead.
    :param enable_tidb_extension: add operation and commit-ts to the rows.
    :param avro_decimal_handling_mode: DECIMAL as Avro's decimal (``precise``) or as text (``string``).
    :param avro_bigint_unsigned_handling_mode: BIGINT UNSIGNED as ``long``, which has the same 64 bits but is
        signed, or as text (``string``).
    :param avro_enable_watermark: send DDL and resolved events, in the encoding of TiCDC's own tests; requires
        the extension.
    :param avro_include_before_value: add the old image and the operation to the rows; deletes have a value.
    :raises ChangefeedError: for an unknown mode.
    """

    profile: Profile = "classic"
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    enable_tidb_extension: bool = False
    avro_decimal_handling_mode: DecimalMode = "precise"
    avro_bigint_unsigned_handling_mode: BigintUnsignedMode = "long"
    avro_enable_watermark: bool = False
    avro_include_before_value: bool = False

    def __post_init__(self) -> None:
        for field, modes in _MODES.items():
            mode = getattr(self, field)
            if mode not in modes:
                name = field.replace("_", "-")
                raise ChangefeedError(f"unknown {name} {mode!r}", parameter=name, hint=nearest(mode, modes))

    @property
    def sends_watermarks(self) -> bool:
        """Whether DDL and resolved events have messages."""
        return self.enable_tidb_extension and self.avro_enable_watermark

    @property
    def names_operation(self) -> bool:
        """Whether values have the operation."""
        return self.enable_tidb_extension or self.avro_include_before_value

    @property
    def marks_deletes(self) -> bool:
        """Whether the value of a delete is its commit-ts (ticdc ``codec/avro/arvo.go``, ``deleteByte``)."""
        return self.profile == "new" and self.sends_watermarks and not self.avro_include_before_value
