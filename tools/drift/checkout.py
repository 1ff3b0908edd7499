"""What a checkout of pingcap/ticdc knows: keys, parameters, protocols, DDL types, flags, type codes.

Each function reads one declaration of the Go sources, wherever its folder has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tools.drift.go_source import (
    bit_constants,
    body,
    go_files,
    in_capitals,
    string_constants,
    structs,
    tag_value,
)

ENCODER_FOLDERS = (
    "pkg/sink/codec",
    "pkg/cloudstorage",
    "pkg/filter",
    "pkg/integrity",
    "downstreamadapter/sink/columnselector",
    "downstreamadapter/sink/eventrouter",
    "downstreamadapter/sink/helper",
)
"""Folders whose code determines which messages a changefeed writes, and their bytes."""
T = TypeVar("T")
_WITHOUT_BYTES = ("metrics.go", "test_helper.go")
_PARAMETER_FOLDERS = ("pkg/sink/kafka", "pkg/sink/codec/common", "pkg/cloudstorage")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the files of pingcap/ticdc: a work tree, or what ``git archive`` wrote.

    :param missing: declarations that are not where this program looks for them.
    """

    folder: Path
    missing: list[str] = field(default_factory=list)

    def config_keys(self) -> list[str]:
        """Return the dotted keys of a changefeed file; a section ends with a dot."""
        declared = structs([path for part in ("config", "integrity") for path in self._files(f"pkg/{part}")])
        keys = list(declared.keys(("config", "ReplicaConfig"), "toml"))
        return self._expect(keys, "type ReplicaConfig", "pkg/config")

    def uri_parameters(self) -> list[str]:
        """Return the parameters of a sink URI of Kafka and of storages."""
        names: set[str] = set()
        for part in _PARAMETER_FOLDERS:
            text = self._text(part)
            tags = re.findall(r"`(form:[^`]*)`", text)
            names.update(self._expect([tag_value(tag, "form") for tag in tags], "a tag form", part))
        constants = string_constants(self._text("pkg/config"))
        keys = [value for name, value in constants.items() if name.endswith("Key")]
        names.update(self._expect(keys, "a constant …Key", "pkg/config"))
        return sorted(names)

    def protocols(self) -> list[str]:
        """Return the names of protocols, with their aliases."""
        declaration = "func ParseSinkProtocolFromString"
        cases = re.findall(r"\bcase ([^:]*):", body(self._text("pkg/config"), declaration))
        names = [name for case in cases for name in re.findall(r'"([^"]+)"', case)]
        return self._expect(names, declaration, "pkg/config")

    def ddl_types(self) -> list[str]:
        """Return the actions of TiDB that reach a sink."""
        names = [in_capitals(name.removeprefix("Action")) for name in self._ddl_events()]
        return self._expect(names, "var ddlWhiteListMap", "pkg/filter")

    def event_types(self) -> list[str]:
        """Return the event types that a filter may name."""
        declaration = "func SupportedEventTypes"
        listed = re.findall(r"\bbf\.(\w+),", body(self._text("pkg/filter"), declaration))
        self._expect(listed, declaration, "pkg/filter")
        texts = string_constants(self._text("pkg/binlog-filter"), "EventType")
        self._expect(list(texts), "a constant of type EventType", "pkg/binlog-filter")
        return sorted({texts.get(name, name) for name in (*listed, *self._ddl_events().values())})

    def column_flags(self) -> list[str]:
        """Return the flags of columns, each with its bit."""
        flags = bit_constants(self._text("pkg/common"), "ColumnFlagType")
        listed = [f"{in_capitals(name.removesuffix('Flag'))}={bit:#04x}" for name, bit in flags.items()]
        return self._expect(listed, "a constant of type ColumnFlagType", "pkg/common")

    def type_codes(self) -> list[str]:
        """Return the type codes of columns that the encoders distinguish."""
        names = set(re.findall(r"\bmysql\.Type(?:TiDB)?([A-Z]\w*)", self._text("pkg/sink/codec")))
        return self._expect(sorted(map(in_capitals, names)), "a use of mysql.Type…", "pkg/sink/codec")

    def encoder_files(self) -> Iterator[Path]:
        """Yield the files of ``ENCODER_FOLDERS``."""
        for part in ENCODER_FOLDERS:
            files = [path for path in self._files(part) if path.name not in _WITHOUT_BYTES]
            yield from self._expect(files, "a Go file", part)

    def _ddl_events(self) -> dict[str, str]:
        entries = body(self._text("pkg/filter"), "var ddlWhiteListMap")
        return dict(re.findall(r"^\s*(?:\w+\.)?(Action\w+):\s+bf\.(\w+),", entries, re.MULTILINE))

    def _files(self, part: str) -> list[Path]:
        return go_files(self.folder / part)

    def _text(self, part: str) -> str:
        """Return the texts of the files of a folder and its subfolders."""
        return "\n".join(path.read_text("utf-8") for path in self._files(part))

    def _expect(self, names: list[T], declaration: str, part: str) -> list[T]:
        what = f"{part} has no {declaration.removeprefix('a ')}"
        if not names and what not in self.missing:
            self.missing.append(what)
        return names


SUBJECTS: dict[str, Callable[[Checkout], list[str]]] = {
    "configuration keys": Checkout.config_keys,
    "sink URI parameters": Checkout.uri_parameters,
    "protocols": Checkout.protocols,
    "DDL types": Checkout.ddl_types,
    "event types of filters": Checkout.event_types,
    "column flags": Checkout.column_flags,
    "type codes": Checkout.type_codes,
}
"""What is compared, and how a checkout answers."""
