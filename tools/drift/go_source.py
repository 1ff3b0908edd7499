"""Reads declarations from Go source text: structs with tags, constants, and the body of a declaration.

The text is as ``gofmt`` leaves it: a declaration begins in the first column, and so does its closing bracket.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_RENAMED = re.compile(r"^type (\w+) =? ?(\w+)$", re.MULTILINE)
_FIELD = re.compile(r"^\s*\w+\s+(\S+)\s+`([^`]*)`", re.MULTILINE)
_EMBEDDED = re.compile(r"^\s*\*?((?:\w+\.)?[A-Z]\w*)(?:\s+`[^`]*`)?$", re.MULTILINE)
_PREFIX = re.compile(r"^(?:\*|\[\])*")

TypeName: TypeAlias = tuple[str, str]
"""The package of a type and its name."""


def go_files(folder: Path) -> list[Path]:
    """Return the Go files of a folder and its subfolders, without tests and mocks.

    Empty if the folder does not exist.
    """
    return sorted(
        path
        for path in folder.rglob("*.go")
        if not path.name.endswith("_test.go") and not any("mock" in part for part in path.parts[-2:])
    )


@dataclass(frozen=True, slots=True)
class Structs:
    """The structs of a source tree.

    :param bodies: the text between the braces of each struct.
    :param renamed: types that have the structure of another type of their package.
    """

    bodies: Mapping[TypeName, str]
    renamed: Mapping[TypeName, str]

    def has(self, name: TypeName) -> bool:
        """Return whether the tree declares a struct."""
        return self._body(name) is not None

    def keys(self, name: TypeName, tag: str, prefix: str = "") -> Iterator[str]:
        """Yield the dotted keys that the tags of a struct, and of the structs of its fields, declare.

        A key whose value is a struct ends with a dot.
        """
        body = self._body(name) or ""
        for line in body.splitlines():
            field, embedded = _FIELD.match(line), _EMBEDDED.match(line)
            key = tag_value(field[2], tag) if field else ""
            if field and key:
                below = self._named(_PREFIX.sub("", field[1]), name[0])
                if self.has(below):
                    yield f"{prefix}{key}."
                    yield from self.keys(below, tag, f"{prefix}{key}.")
                else:
                    yield prefix + key
            elif embedded:
                yield from self.keys(self._named(embedded[1], name[0]), tag, prefix)

    def _body(self, name: TypeName) -> str | None:
        renamed = self.renamed.get(name)
        return self.bodies.get((name[0], renamed) if renamed else name)

    def _named(self, text: str, package: str) -> TypeName:
        other, _, name = text.rpartition(".")
        return other or package, name


def structs(files: Iterable[Path]) -> Structs:
    """Read the structs of source files; the package of a file is the name of its folder."""
    bodies, renamed = {}, {}
    for path in files:
        text, package = path.read_text("utf-8"), path.parent.name
        bodies.update({(package, match[1]): match[2] for match in _STRUCT.finditer(text)})
        renamed.update({(package, match[1]): match[2] for match in _RENAMED.finditer(text)})
    return Structs(bodies, renamed)


def tag_value(tags: str, name: str) -> str:
    """Return the key in a field's tag, without options such as ``omitempty``; empty if it has none.

    >>> tag_value('toml:"index,omitempty" json:"id"', "toml")
    'index'
    """
    match = re.search(rf'\b{name}:"([^",]*)', tags)
    return match[1] if match and match[1] != "-" else ""


def body(text: str, declaration: str) -> str:
    """Return the text from a declaration to its closing bracket; empty if the text does not have it.

    >>> body("var a = x{\\n  1,\\n}\\nvar b = 2\\n", "var a")
    'var a = x{\\n  1,\\n}'
    """
    match = re.search(rf"^{declaration}\b.*?^[}})]", text, re.MULTILINE | re.DOTALL)
    return match[0] if match else ""


def string_constants(text: str, type_name: str = r"\w*") -> dict[str, str]:
    """Return the constants of a type whose values are texts.

    >>> string_constants('const (\\n\\tProtocolKey = "protocol"\\n)')
    {'ProtocolKey': 'protocol'}
    """
    pattern = rf'^\s*(?:const )?(\w+)\s+(?:{type_name}\s+)?= "([^"]*)"'
    return dict(re.findall(pattern, text, re.MULTILINE))


def bit_constants(text: str, type_name: str) -> dict[str, int]:
    """Return the constants of a block that begins with ``NAME TYPE = 1 << …iota``, with their values."""
    first = re.search(
        rf"^\s*(\w+)\s+{type_name}\s+= 1 << [^\n]*iota[^\n]*\n(.*?)^\)", text, re.MULTILINE | re.DOTALL
    )
    if first is None:
        return {}
    names = [first[1], *re.findall(r"^\s*(\w+)\s*(?://.*)?$", first[2], re.MULTILINE)]
    return {name: 1 << position for position, name in enumerate(names)}


def in_capitals(name: str) -> str:
    """Return a Go name with underscores between its words.

    >>> in_capitals("ModifySchemaCharset"), in_capitals("AlterTTLInfo"), in_capitals("Int24")
    ('MODIFY_SCHEMA_CHARSET', 'ALTER_TTL_INFO', 'INT24')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()
