"""CSV against the bytes of real TiCDC: every file and option."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN, GoldenRow
from tests.protocols.golden_messages import Compared, events_of, load_messages, row_messages
from ticdc_producer.errors import ChangefeedError, EncodeError
from ticdc_producer.protocols.csv.encoder import CSVEncoder
from ticdc_producer.protocols.csv.options import CSVOptions

VARIANTS = {
    "csv": CSVOptions(),
    "csv.commit-ts": CSVOptions(include_commit_ts=True),
    "csv.commit-ts.old-value.handle-key.header.hex": CSVOptions(
        include_commit_ts=True, output_old_value=True, output_handle_key=True, binary_encoding_method="hex"
    ),
}
FILES = sorted(
    (path, variant) for variant in VARIANTS for path in (GOLDEN / "visible").glob(f"*.{variant}.jsonl")
)
IDS = [f"{path.name.split('.')[0]}-{variant}" for path, variant in FILES]


def test_all_files_exist() -> None:
    assert len(FILES) == 16 * 3
    assert sum(len(load_messages(path)) for path, _ in FILES) == 247 * 3


@pytest.mark.parametrize(("path", "variant"), FILES, ids=IDS)
def test_golden_events_give_golden_bytes(path: Path, variant: str, compared: Compared) -> None:
    """TiCDC's encoder got the rows of one transaction at a time."""
    events, encoder = events_of(path), CSVEncoder(VARIANTS[variant])
    messages = load_messages(path)
    for message in messages:
        rows = [row for seq in message.events if isinstance(row := events[seq], GoldenRow)]
        if message.error:
            with pytest.raises(EncodeError) as refusal:
                row_messages(encoder, rows)
            error = message.error.replace("]", ": ", 1).removeprefix("[")
            assert refusal.value.what.partition(", in column ")[0] == error
            continue
        assert b"".join(line.value or b"" for line in row_messages(encoder, rows)) == message.value
        header = encoder.header(rows[0].table) if "header" in variant else None
        assert header == message.key
    compared("csv, encoded", len(messages))


UNQUOTED = CSVOptions(quote="", delimiter="|;", null="NULL", terminator="\n")


def test_without_quotes_characters_that_end_a_field_are_escaped() -> None:
    path = GOLDEN / "visible" / "strings.csv.jsonl"
    rows = [row for row in events_of(path).values() if isinstance(row, GoldenRow)]
    texts = [b"a|b", b"c|;d", b"e\\f", b"g\r\nh", None, b"plain"]
    row = replace(rows[0], after=(b"1", *texts))
    (line,) = row_messages(CSVEncoder(UNQUOTED), [row])
    assert line.value == b"I|;strings|;test|;1|;a|b|;c\\|\\;d|;e\\\\f|;g\\r\\nh|;NULL|;plain\n"


@pytest.mark.parametrize(
    "options",
    [
        {"delimiter": ""},
        {"delimiter": "abcd"},
        {"delimiter": ",\n"},
        {"quote": "''"},
        {"quote": ","},
        {"delimiter": "éé"},
        {"quote": "é"},
        {"binary_encoding_method": "base32"},
    ],
)
def test_options_that_ticdc_rejects_are_rejected(options: dict[str, str]) -> None:
    with pytest.raises(ChangefeedError) as error:
        CSVOptions(**options)  # type: ignore[arg-type]  # all values are texts
    assert error.value.parameter in (name.replace("_", "-") for name in options)
