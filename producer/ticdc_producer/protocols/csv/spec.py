"""The specification of CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ticdc_producer.model.option_type import AnyText, Boolean, Choice, OptionType, Plain
from ticdc_producer.model.parameter import Parameter, SinkKind
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.base import Decoder, Encoder
from ticdc_producer.protocols.csv.options import CSVOptions
from ticdc_producer.protocols.spec import FileFormat, Inputs, Options, ProtocolSpec
from ticdc_producer.protocols.wire import WireFormat

if TYPE_CHECKING:
    from ticdc_producer.protocols.csv.decoder import CSVColumn


def _encoder(options: CSVOptions, _: Options) -> Encoder:
    from ticdc_producer.protocols.csv.encoder import CSVEncoder

    return CSVEncoder(options)


def _decoder(options: CSVOptions, inputs: Inputs) -> Decoder:
    from ticdc_producer.protocols.csv.decoder import CSVDecoder

    tables = cast("Mapping[str, Sequence[CSVColumn]]", inputs.get("csv_tables", {}))
    return CSVDecoder(options, tables)


def _file_rows(content: bytes, options: CSVOptions) -> Iterator[bytes]:
    from ticdc_producer.protocols.csv.options import file_rows

    return file_rows(content, options)


def _header(options: CSVOptions, table: TableInfo) -> bytes:
    from ticdc_producer.protocols.csv.encoder import CSVEncoder

    return CSVEncoder(options).header(table) if options.output_field_header else b""


def _form_of(options: Mapping[str, object]) -> Callable[[bytes], object]:
    """Return a function that returns the fields of each record of a row, as they are written."""
    from ticdc_producer.protocols.csv.options import CSVRecords

    records = CSVRecords(cast("CSVOptions", SPEC.typed(options)))
    return lambda row: [[text.decode() for text in records.texts(record)] for record in records.split(row)]


def _option(name: str, value: OptionType, default: Plain, effect: str) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        in_uri=False,
        file_key=f"sink.csv.{name}",
        sinks=(SinkKind.STORAGE,),
    )


SPEC = ProtocolSpec(
    name="csv",
    title="CSV",
    options=CSVOptions,
    encoder=_encoder,
    decoder=_decoder,
    section="csv",
    parameters=(
        _option("delimiter", AnyText(), ",", "Text between fields."),
        _option("quote", AnyText(), '"', "Quotation mark around texts; empty: none, and backslashes escape."),
        _option("null", AnyText(), r"\N", "Text of NULL, never quoted."),
        _option("include-commit-ts", Boolean(), False, "Rows contain their commit-ts."),
        _option("output-handle-key", Boolean(), False, "Rows contain TiDB's handle."),
        _option("output-field-header", Boolean(), False, "Files begin with the names of the fields."),
        _option("binary-encoding-method", Choice(choices=("base64", "hex")), "base64", "Encoding of bytes."),
    ),
    defaults={"output-old-value": False},
    sinks=(SinkKind.STORAGE,),
    file_format=FileFormat(extension=".csv", rows=_file_rows, header=_header),
    wire=WireFormat(form_of=_form_of),
)
