"""The codecs with random options, for tests that apply to all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.protocols.random_tables import NAMES
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.avro.decoder import AvroDecoder
from ticdc_producer.protocols.avro.encoder import AvroEncoder
from ticdc_producer.protocols.avro.names import Part
from ticdc_producer.protocols.avro.schemas import schema_of
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.batch_options import CraftOptions, OpenOptions, WorkerOptions
from ticdc_producer.protocols.canal.decoder import CanalDecoder
from ticdc_producer.protocols.canal.encoder import CanalEncoder
from ticdc_producer.protocols.canal_json.decoder import CanalJSONDecoder
from ticdc_producer.protocols.canal_json.encoder import CanalJSONEncoder
from ticdc_producer.protocols.craft.decoder import CraftDecoder
from ticdc_producer.protocols.craft.encoder import CraftEncoder
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder
from ticdc_producer.protocols.debezium.encoder import DebeziumEncoder
from ticdc_producer.protocols.debezium_avro.decoder import DebeziumAvroDecoder
from ticdc_producer.protocols.debezium_avro.encoder import DebeziumAvroEncoder
from ticdc_producer.protocols.maxwell.decoder import MaxwellDecoder
from ticdc_producer.protocols.maxwell.encoder import MaxwellEncoder
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder
from ticdc_producer.protocols.open_protocol.encoder import OpenEncoder
from ticdc_producer.protocols.row_options import (
    AvroOptions,
    CanalJSONOptions,
    DebeziumAvroOptions,
    DebeziumOptions,
    SimpleOptions,
)
from ticdc_producer.protocols.simple import avro_encoder, json_encoder
from ticdc_producer.protocols.simple.decoder import SimpleDecoder
from ticdc_producer.protocols.simple.encoder import SimpleEncoder
from ticdc_producer.testing.change_log import RegisteredIDs, avro_schema

_NO_LIMIT = 10 << 20
_PROFILE = st.sampled_from(["classic", "new"])
_LARGE = st.sampled_from(["none", "handle-key-only", "claim-check"])
_COMPRESSION = st.sampled_from(["none", "none", "snappy", "lz4"])


@dataclass(frozen=True)
class Codec:
    """A protocol.

    :param options: strategy of its encoder's options.
    :param decoder: creates the decoder for an encoder's options and, for rows, their table.
    :param refuses: codes of the errors with which it may reject a row.
    """

    options: st.SearchStrategy[Any]
    encoder: Callable[[Any], Encoder]
    decoder: Callable[[Any, TableInfo | None], Decoder]
    refuses: frozenset[str]


# Without legacy_no_flag: values cannot be read without flags.
_OPEN = st.builds(
    OpenOptions,
    max_batch_size=st.integers(1, 5),
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(150, 2000),
    output_old_value=st.booleans(),
    only_output_updated_columns=st.booleans(),
    delete_only_output_handle_key_columns=st.booleans(),
    output_row_id=st.booleans(),
    batch_by=st.sampled_from(["dispatch-key", "partition"]),
    large_message_handle_option=_LARGE,
    large_message_handle_compression=_COMPRESSION,
    claim_check_storage_uri=st.just("file:///claims"),
    profile=_PROFILE,
    legacy_varchar_base64=st.booleans(),
)
_CRAFT = st.builds(
    CraftOptions,
    max_batch_size=st.integers(1, 5),
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(0, 600),
    delete_only_output_handle_key_columns=st.booleans(),
    batch_by=st.sampled_from(["dispatch-key", "partition"]),
)
_MAXWELL = st.builds(
    WorkerOptions,
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(0, 600),
    delete_only_output_handle_key_columns=st.booleans(),
    batch_by=st.sampled_from(["dispatch-key", "partition"]),
)
_CANAL = st.builds(
    WorkerOptions,
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(0, 600),
    delete_only_output_handle_key_columns=st.booleans(),
    batch_by=st.sampled_from(["dispatch-key", "partition"]),
)
_BUILT = st.none() | st.integers(0, 2**40)
_CANAL_JSON = st.builds(
    CanalJSONOptions,
    profile=_PROFILE,
    enable_tidb_extension=st.booleans(),
    content_compatible=st.booleans(),
    only_output_updated_columns=st.booleans(),
    delete_only_output_handle_key_columns=st.booleans(),
    build_ts_ms=_BUILT,
    legacy_delete_old=st.booleans(),
    legacy_data_before_old=st.booleans(),
    legacy_insert_old=st.booleans(),
    legacy_row_end=st.booleans(),
) | st.builds(
    CanalJSONOptions,
    enable_tidb_extension=st.just(True),
    max_message_bytes=st.integers(200, 2000),
    large_message_handle_option=_LARGE,
    large_message_handle_compression=_COMPRESSION,
    claim_check_storage_uri=st.just("file:///claims"),
    claim_check_raw_value=st.booleans(),
)
_DEBEZIUM = st.builds(
    DebeziumOptions,
    profile=_PROFILE,
    debezium_disable_schema=st.booleans(),
    output_old_value=st.booleans(),
    enable_tidb_extension=st.booleans(),
    cluster_id=st.just("default") | NAMES,
    output_ddl=st.just(True),
    invalid_utf8=st.sampled_from(["raw", "replace"]),
    time_zone=st.sampled_from(["UTC", "+05:30", "Asia/Tokyo"]),
    build_ts_ms=_BUILT,
    large_message_handle_compression=_COMPRESSION,
)

_SIMPLE = st.builds(
    SimpleOptions,
    profile=_PROFILE,
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(200, 2000),
    large_message_handle_option=_LARGE,
    large_message_handle_compression=_COMPRESSION,
    claim_check_storage_uri=st.just("file:///claims"),
    claim_check_raw_value=st.booleans(),
    time_zone=st.sampled_from(["UTC", "+05:30"]),
    build_ts_ms=_BUILT,
) | st.builds(
    SimpleOptions,
    encoding_format=st.just("avro"),
    profile=_PROFILE,
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(100, 1000),
    time_zone=st.sampled_from(["UTC", "+05:30"]),
    build_ts_ms=_BUILT,
)

_AVRO = st.builds(
    AvroOptions,
    profile=st.sampled_from(["classic", "new"]),
    max_message_bytes=st.just(_NO_LIMIT) | st.integers(60, 300),
    enable_tidb_extension=st.booleans(),
    avro_decimal_handling_mode=st.sampled_from(["precise", "string"]),
    avro_bigint_unsigned_handling_mode=st.sampled_from(["long", "string"]),
    avro_enable_watermark=st.booleans(),
    avro_include_before_value=st.booleans(),
)
_DEBEZIUM_AVRO = st.builds(
    DebeziumAvroOptions,
    output_old_value=st.booleans(),
    enable_tidb_extension=st.booleans(),
    avro_decimal_handling_mode=st.sampled_from(["precise", "string"]),
    avro_bigint_unsigned_handling_mode=st.sampled_from(["long", "string"]),
    avro_enable_watermark=st.booleans(),
    time_zone=st.sampled_from(["UTC", "+05:30", "Asia/Tokyo"]),
    cluster_id=st.just("default") | NAMES,
    build_ts_ms=_BUILT,
)
_PARTS: tuple[Part, Part] = ("key", "value")


def _avro_encoder(options: AvroOptions) -> AvroEncoder:
    return AvroEncoder(options, schema_id=lambda table, part, schema: _PARTS.index(part))


def _avro_decoder(options: AvroOptions, table: TableInfo | None) -> AvroDecoder:
    known = {} if table is None else {i: schema_of(part, table, options) for i, part in enumerate(_PARTS)}
    return AvroDecoder(known.get)


def _simple_decoder(options: SimpleOptions, table: TableInfo | None) -> SimpleDecoder:
    describe = (avro_encoder if options.encoding_format == "avro" else json_encoder).bootstrap
    return SimpleDecoder(None if table is None else [describe(table, 0, options)])


CODECS = {
    "open-protocol": Codec(
        _OPEN,
        OpenEncoder,
        lambda options, _: OpenDecoder(legacy_varchar_base64=options.legacy_varchar_base64),
        frozenset({"CDC:ErrMessageTooLarge", "CDC:ErrOpenProtocolCodecInvalidData"}),
    ),
    "craft": Codec(
        _CRAFT, CraftEncoder, lambda *_: CraftDecoder(), frozenset({"CDC:ErrCraftCodecInvalidData"})
    ),
    "canal-json": Codec(
        _CANAL_JSON, CanalJSONEncoder, lambda *_: CanalJSONDecoder(), frozenset({"CDC:ErrMessageTooLarge"})
    ),
    "debezium": Codec(
        _DEBEZIUM,
        DebeziumEncoder,
        lambda options, _: DebeziumDecoder(time_zone=options.time_zone),
        frozenset({"CDC:ErrDebeziumEncodeFailed"}),
    ),
    "avro": Codec(
        _AVRO,
        _avro_encoder,
        _avro_decoder,
        frozenset({"CDC:ErrMessageTooLarge", "CDC:ErrAvroEncodeFailed", "CDC:ErrAvroMarshalFailed"}),
    ),
    "debezium-avro": Codec(
        _DEBEZIUM_AVRO,
        lambda options: DebeziumAvroEncoder(options, schema_ids=RegisteredIDs()),
        lambda options, _: DebeziumAvroDecoder(avro_schema, time_zone=options.time_zone),
        frozenset({"CDC:ErrAvroSchemaAPIError", "CDC:ErrDebeziumEncodeFailed"}),
    ),
    "maxwell": Codec(_MAXWELL, MaxwellEncoder, lambda *_: MaxwellDecoder(), frozenset({"panic"})),
    "canal": Codec(_CANAL, CanalEncoder, lambda *_: CanalDecoder(), frozenset()),
    "simple": Codec(_SIMPLE, SimpleEncoder, _simple_decoder, frozenset({"CDC:ErrMessageTooLarge"})),
}
