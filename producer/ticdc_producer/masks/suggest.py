"""Proposes rules: by the names of columns, and by values that look like those of persons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import yaml

from ticdc_producer.masks.methods import DATES
from ticdc_producer.masks.rules import KEY_VARIABLE
from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.mysql_type import TYPES
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.verifier.event_layouts import LayoutBatch
from ticdc_producer.verifier.history.sides import described_column

_SAMPLE = 1000
"""Values of a column that are looked at."""
_MOSTLY = 0.5
_TEXTS = ("string", "lob", "json")
_NAMES = (
    (r"e?_?mail", "email"), (r"phone|mobile|^tel|fax", "phone"), (r"birth|^dob$", "birth"),
    (r"(first|last|full|given|family|user|customer|contact|owner)_?name|^name$|surname", "name"),
    (r"address|street|city|postcode|zip", "address"), (r"passw|pwd|secret|token|api_?key", "secret"),
    (r"ssn|passport|iban|card_?(no|num)|tax_?id|licen[cs]e", "number"), (r"^ip|_ip$|ip_?addr", "address"),
    (r"comment|note|remark|message|description|subject", "text"),
)  # fmt: skip
_VALUES = (
    (r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$", "email"),
    (r"^\+?[0-9][0-9 ()/-]{6,}[0-9]$", "phone"),
    (r"^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$", "number"),
    (r"^[0-9]{1,3}(\.[0-9]{1,3}){3}$", "address"),
)
_PROVIDERS = {"name": "name"}


@dataclass
class Suggestions:
    """The columns that were seen, with what they look like.

    :ivar columns: per column what it looks like; empty: nothing that a rule masks.
    """

    columns: dict[tuple[str, str, str], str] = field(default_factory=dict)
    unique: set[tuple[str, str, str]] = field(default_factory=set)
    _seen: dict[tuple[str, str, str], int] = field(default_factory=dict)

    def see_events(self, batches: Iterable[DecodedBatch]) -> None:
        """Look at the columns of decoded events."""
        for batch in batches:
            for layout in LayoutBatch(batch).layouts():
                for described in layout.columns:
                    column = described_column(described)
                    if column is None or described.name not in layout.key_image:
                        continue
                    name = layout.schema, layout.table, described.name
                    if described.flag & (ColumnFlag.PRIMARY_KEY | ColumnFlag.UNIQUE_KEY):
                        self.unique.add(name)
                    self.see(name[0], name[1], column, layout.key_values(described.name))

    def see(self, schema: str, table: str, column: ColumnInfo, values: pa.Array) -> None:
        """Look at some values of a column.

        :param values: canonical, binary.
        """
        name = schema, table, column.name
        seen = self._seen.get(name, 0)
        if seen < _SAMPLE and not column.generated:
            self._seen[name] = seen + len(values)
            kind = _by_name(column) or _by_values(column, values.slice(0, _SAMPLE))
            self.columns[name] = self.columns.get(name) or kind

    def yaml(self) -> str:
        """Return a rules file."""
        by_rule: dict[tuple[tuple[str, Any], ...], list[str]] = {}
        for name, kind in sorted(self.columns.items()):
            if kind:
                rule = tuple(_rule(kind, unique=name in self.unique).items())
                by_rule.setdefault(rule, []).append(_pattern(name))
        rules = [{"columns": names, **dict(rule)} for rule, names in by_rule.items()]
        clear = sorted(".".join(name) for name, kind in self.columns.items() if not kind)
        text: str = yaml.safe_dump({"rules": rules}, sort_keys=False, width=100)
        comments = [
            f"# The key is in the environment variable {KEY_VARIABLE}.",
            "# These columns stay in clear:",
        ]
        return "\n".join([*comments, *(f"#   {name}" for name in clear), text])


def _pattern(name: tuple[str, str, str]) -> str:
    """Return the pattern of a column: a dot in a name would divide it."""
    return ".".join(part.replace(".", "*") for part in name)


def _by_name(column: ColumnInfo) -> str:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.name).lower()
    kind = next((kind for pattern, kind in _NAMES if re.search(pattern, name)), "")
    family = TYPES[column.type].family
    if kind == "birth":
        return kind if column.type in DATES else ""
    return kind if family in _TEXTS or (kind in ("phone", "number") and family == "integer") else ""


def _by_values(column: ColumnInfo, values: pa.Array) -> str:
    if TYPES[column.type].family not in ("string", "lob") or column.binary:
        return ""
    texts = values.drop_null()
    for pattern, kind in _VALUES if len(texts) else ():
        matches = pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False)
        if np.mean(matches) > _MOSTLY:
            return kind
    return ""


def _rule(kind: str, *, unique: bool) -> dict[str, Any]:
    if kind == "birth":
        return {"method": "date-shift", "days": 365}
    if kind in _PROVIDERS and not unique:
        return {"method": "fake", "provider": _PROVIDERS[kind]}
    return {"method": "format"}
