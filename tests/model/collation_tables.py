"""Writes the tables of ``producer/ticdc_producer/model/weights``: ``python -m tests.model.collation_tables``.

It needs MariaDB's server and pyuca 1.2, which ships Unicode's ``allkeys-9.0.0.txt``. MariaDB has the weights
of UCA 4.0 and the order of GBK that TiDB took from MySQL; TiDB's deviations from both are below. NOTICE names
the licences. ``ticdc_producer.model.values.collation`` describes the format of a table.

Source of the deviations: tidb ``pkg/util/collate``: ``ucadata/generator/main.go``, ``gbk_chinese_ci*.go``.
"""

from __future__ import annotations

import importlib.util
import lzma
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ticdc_producer.model.values import collation

FOLDER = Path(collation.__file__).with_name("weights")
_LAST_0900 = 0x2CEA0
"""The last character in TiDB's table of UCA 9.0."""
_LONGEST = 16
_FILTERS = [
    {"id": lzma.FILTER_DELTA, "dist": 4},
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME},
]
_ENTRY = re.compile(r"^([0-9A-F]+) *; *((?:\[[^]]*\])+)", re.MULTILINE)
_PRIMARY = re.compile(r"\[[.*]([0-9A-F]+)")
_CHARACTER = "char({code} using utf32)"
_CODE = "(a.n * 4096 + b.n * 256 + c.n * 16 + d.n)"
_WEIGHTS = (
    "weight_string({} collate utf32_general_ci)",
    "weight_string({} collate utf32_unicode_ci)",
    "weight_string(convert({} using gbk) collate gbk_chinese_ci)",
)


class NotRun(Exception):
    """A source of the tables is not on this machine."""


def tables() -> dict[str, bytes]:
    """The content of each table.

    :raises NotRun: if MariaDB or pyuca is missing.
    """
    general_ci, unicode_ci, gbk = _from_mariadb()
    gbk[ord("\\")] = b"\\"  # TiDB has MySQL's order of GBK except for this character
    return {
        "utf8mb4_general_ci": _packed([*general_ci, b"\xff\xfd"]),
        "utf8mb4_unicode_ci": _packed(
            [*(_unicode_ci(*entry) for entry in enumerate(unicode_ci)), b"\xff\xfd"]
        ),
        "utf8mb4_0900_ai_ci": _packed(_unicode_0900()),
        "gbk_chinese_ci": _packed([*gbk, b"?"]),
    }


def _from_mariadb() -> list[list[bytes]]:
    """The weights of each character of the BMP under each collation of ``_WEIGHTS``."""
    if (server := shutil.which("mariadbd")) is None:
        raise NotRun("mariadbd is not on the PATH")
    character = _CHARACTER.format(code=_CODE)
    weights = ", ".join(f"hex({weight.format(character)})" for weight in _WEIGHTS)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "weights.txt"
        statements = [
            "create database w;",
            "create table w.n (n int) engine = memory;",
            f"insert into w.n values {', '.join(f'({n})' for n in range(16))};",
            f"select {weights} from w.n a, w.n b, w.n c, w.n d order by {_CODE} into outfile '{output}';",
        ]
        options = [f"--datadir={folder}", "--bootstrap", "--user=root", "--secure-file-priv="]
        command = [server, "--no-defaults", *options]
        subprocess.run(command, input="\n".join(statements), text=True, check=True, capture_output=True)
        rows = [line.split("\t") for line in output.read_text("ascii").splitlines()]
    return [[bytes.fromhex(row[index]) for row in rows] for index in range(len(_WEIGHTS))]


def _unicode_ci(code: int, weights: bytes) -> bytes:
    """TiDB has no weights of U+FDFA in UCA 4.0, and its own blocks of Han characters."""
    base = 0xFBC0
    if 0x3400 <= code <= 0x4DB5:
        base = 0xFB80
    elif 0x4E00 <= code <= 0x9FA5 or code in (0xFA0E, 0xFA0F):
        base = 0xFB40
    is_implicit = weights[2:] == _implicit(code, 0)[2:] and weights[:1] == b"\xfb"
    return _implicit(code, base) if is_implicit or code == 0xFDFA else weights


def _unicode_0900() -> list[bytes]:
    explicit = _allkeys()
    return [
        explicit[code] if code in explicit else _implicit_0900(code, explicit)
        for code in range(_LAST_0900 + 1)
    ]


def _allkeys() -> dict[int, bytes]:
    """The primary weights of single characters; TiDB stores at most 8 of U+FDFA, which has 18."""
    package = importlib.util.find_spec("pyuca")
    if package is None or package.origin is None:
        raise NotRun("pyuca is not installed")
    text = Path(package.origin).with_name("allkeys-9.0.0.txt").read_text("utf-8")
    by_code = {}
    for code, elements in _ENTRY.findall(text):
        weights = [bytes.fromhex(weight) for weight in _PRIMARY.findall(elements)]
        if int(code, 16) == 0xFDFA:
            weights = weights[:8]
        by_code[int(code, 16)] = b"".join(weight for weight in weights if weight != b"\0\0")
    return by_code


def _implicit_0900(code: int, explicit: dict[int, bytes]) -> bytes:
    if 0xD800 <= code <= 0xDFFF:
        return b""
    if 0xAC00 <= code <= 0xD7AF:
        return b"".join(explicit[jamo] for jamo in _jamo(code - 0xAC00))
    if 0x17000 <= code <= 0x18AFF:
        return b"\xfb\x00" + (0x8000 | code - 0x17000).to_bytes(2, "big")
    ranges_80 = (
        (0x3400, 0x4DB5),
        (0x20000, 0x2A6D6),
        (0x2A700, 0x2B734),
        (0x2B740, 0x2B81D),
        (0x2B820, 0x2CEA1),
    )
    if any(low <= code <= high for low, high in ranges_80):
        return _implicit(code, 0xFB80)
    is_han = 0x4E00 <= code <= 0x9FD5 or 0xFA0E <= code <= 0xFA29
    return _implicit(code, 0xFB40 if is_han else 0xFBC0)


def _jamo(syllable: int) -> list[int]:
    leading, rest = divmod(syllable, 21 * 28)
    vowel, trailing = divmod(rest, 28)
    return [0x1100 + leading, 0x1161 + vowel] + ([0x11A7 + trailing] if trailing else [])


def _implicit(code: int, base: int) -> bytes:
    return (base + (code >> 15)).to_bytes(2, "big") + (0x8000 | code & 0x7FFF).to_bytes(2, "big")


def _packed(weights: Sequence[bytes]) -> bytes:
    assert max(map(len, weights)) <= _LONGEST
    return len(weights).to_bytes(4, "big") + bytes(map(len, weights)) + b"".join(weights)


def main() -> None:
    for name, table in tables().items():
        (FOLDER / f"{name}.xz").write_bytes(lzma.compress(table, lzma.FORMAT_XZ, filters=_FILTERS))


if __name__ == "__main__":
    main()
