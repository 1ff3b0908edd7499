"""The golden files of large and compressed messages, and TiCDC's compressor reconstructed from them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden_events import GOLDEN
from tests.new_events import is_new
from tests.protocols.canal_json_messages import in_column_order
from tests.protocols.golden_messages import load_messages
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.compression import COMPRESSORS, Decompressor
from ticdc_producer.protocols.open_protocol.decoder import FrameReader

FOLDER = GOLDEN / "large-messages"
STORAGE = "file:///tmp/oracle-claims"
_LARGE = re.compile("compression|max-message-bytes|claim-check|handle-key-only|merge")
_LIMIT = re.compile(r"\.max-message-bytes-(\d+)")


@dataclass(frozen=True)
class Claim:
    """A golden claim-check object."""

    name: str
    content: bytes
    event: int


@dataclass(frozen=True)
class LargeFile:
    """One golden file: ``NAME.PROTOCOL.OPTIONS.jsonl``."""

    path: Path

    @property
    def variant(self) -> str:
        return self.path.name.split(".", 1)[1].removesuffix(".jsonl")

    @property
    def id(self) -> str:
        return self.path.name.removesuffix(".jsonl")

    @property
    def profile(self) -> Profile:
        return "new" if is_new(self.path) else "classic"

    @property
    def protocol(self) -> str:
        return self.variant.split(".")[0].removeprefix("new-")

    @property
    def events(self) -> Path:
        """The message file whose name leads to the events of this file."""
        return self.path if is_new(self.path) else GOLDEN / "visible" / self.path.name

    @property
    def plain(self) -> Path:
        """The file of the same events without compression and size limit."""
        kind = ".".join(part for part in self.variant.split(".") if part not in self._not_plain)
        return self.events.with_name(f"{self.path.name.split('.')[0]}.{kind}.jsonl")

    @property
    def _not_plain(self) -> list[str]:
        return [part for part in self.variant.split(".") if _LARGE.match(part)]

    @property
    def compression(self) -> str:
        return next((method for method in COMPRESSORS if f"compression-{method}" in self.variant), "none")

    @property
    def handle(self) -> str:
        return next(
            (option for option in ("handle-key-only", "claim-check") if option in self.variant), "none"
        )

    @property
    def options(self) -> dict[str, Any]:
        """The options that Open Protocol and Canal-JSON have in common."""
        limit = _LIMIT.search(self.variant)
        return {
            "profile": self.profile,
            "max_message_bytes": int(limit[1]) if limit else 10 << 20,
            "large_message_handle_option": self.handle,
            "large_message_handle_compression": self.compression,
            "claim_check_storage_uri": STORAGE if self.handle == "claim-check" else "",
        }

    def claims(self) -> list[Claim]:
        return _claims(self.path.with_name(f"{self.id}.claims.jsonl"))


def _claims(path: Path) -> list[Claim]:
    if not path.exists():
        return []
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return [Claim(line["file"], base64.b64decode(line["content"]), line["event"]) for line in lines]


def files(protocol: str) -> list[LargeFile]:
    """All golden files of one protocol."""
    paths = sorted([*FOLDER.glob(f"*.{protocol}.*jsonl"), *(GOLDEN / "new").glob(f"*.new-{protocol}.*jsonl")])
    files = [LargeFile(path) for path in paths if ".claims." not in path.name]
    return [
        file
        for file in files
        if file.compression != "none" or file.handle == "claim-check" or not is_new(file.path)
    ]


def golden_compressor(file: LargeFile) -> Callable[[bytes], bytes]:
    """TiCDC's compressor, for what it compressed in the golden files: compressors differ in their bytes.

    The file itself comes first; a row that is not whole in it is looked up in the other files. What is in
    none, since TiCDC's encoder panicked at it, stays as it is.
    """
    own = _packed(file.path)
    stem, kind = file.path.name.split(".")[0], file.variant.split(".")[0]
    others = _all_packed(file.path.parent, f"{stem}.{kind}.*compression-{file.compression}.jsonl")

    def compress(text: bytes) -> bytes:
        return own[text] if text in own else others.get(text, text)

    return compress


@cache
def _all_packed(folder: Path, pattern: str) -> Mapping[bytes, bytes]:
    packed: dict[bytes, bytes] = {}
    for path in sorted(folder.glob(pattern)):
        packed |= _packed(path)
    return packed


@cache
def _packed(path: Path) -> Mapping[bytes, bytes]:
    """Maps text to compressed bytes, for everything that is compressed in a file and its objects."""
    file, packed = LargeFile(path), []
    for message in load_messages(path):
        if not message.error:
            packed += _parts(file, message.key, message.value or b"")
    for claim in file.claims():
        packed += _parts(file, *_unwrapped(file, claim))
    return {text_of(data): data for data in packed}


def _unwrapped(file: LargeFile, claim: Claim) -> tuple[bytes | None, bytes]:
    if "raw-value" in file.variant:
        return None, claim.content
    wrapped = json.loads(claim.content)
    key = wrapped["key"]
    return None if key is None else base64.b64decode(key), base64.b64decode(wrapped["value"])


def _parts(file: LargeFile, key: bytes | None, value: bytes) -> list[bytes]:
    if file.protocol == "open":
        blocks, parts = FrameReader("value", value), []
        while not blocks.at_end:
            parts.append(blocks.next())
        return [part for part in parts if part]
    return [part for part in (key, value) if part is not None]


def text_of(data: bytes) -> bytes:
    """The text, Canal-JSON's ``mysqlType`` in column order."""
    return in_column_order(Decompressor().text(data, "value"))
