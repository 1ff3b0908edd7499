"""The target types of CAST and CONVERT.

Rules: tidb ``pkg/expression/builtin_cast.go``, ``pkg/parser/parser.y`` (``CastType``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from ticdc_producer.errors import ScenarioError, UnsupportedSQL
from ticdc_producer.model.values.temporal_text import MAX_FSP
from ticdc_producer.scenario.sql.expression.eval_type import (
    OF_FLOAT,
    OF_INTEGER,
    TEMPORALS,
    Digits,
    EvalType,
    ExpressionType,
    temporal_type,
)

E = EvalType


@dataclass(frozen=True, slots=True)
class CastType:
    """The target type of a CAST.

    :param sizes: numbers in parentheses.
    :param charset: charset of CHAR and CONVERT … USING; empty if none is given.
    """

    name: str
    sizes: tuple[int, ...] = ()
    charset: str = ""

    @property
    def decimal_sizes(self) -> tuple[int, int]:
        """Precision and scale of a DECIMAL."""
        precision, scale = (*self.sizes, *(10, 0)[len(self.sizes) :])
        return precision, scale

    @property
    def is_single(self) -> bool:
        """Whether it is a FLOAT of 32 bits."""
        return self.name == "FLOAT" and (not self.sizes or self.sizes[0] <= _MOST_BITS_OF_FLOAT)

    @property
    def type(self) -> ExpressionType:
        """The type of the CAST."""
        kind = E.BYTES if self.charset == "binary" else _KINDS[self.name]
        if self.name in ("SIGNED", "UNSIGNED"):
            return ExpressionType(kind, OF_INTEGER)
        if self.name == "DECIMAL":
            precision, scale = self.decimal_sizes
            return ExpressionType(kind, Digits(precision - scale, scale))
        if self.is_single:
            return ExpressionType(kind, OF_FLOAT)
        return temporal_type(kind, *self.sizes[:1]) if kind in TEMPORALS else ExpressionType(kind)


_SIZE = re.compile("[0-9]{1,12}")
_MOST_BYTES = 64 << 20
"""TiDB's max_allowed_packet, the longest value."""
_MOST_DIGITS, _MOST_DECIMALS = 65, 30
_MOST_BITS_OF_FLOAT = 24


def target_of(to: exp.DataType) -> CastType:
    """Return the target of a CAST node.

    :raises ScenarioError: for a type that nothing can be cast to, and a length that no value can have.
    """
    written = [str(part.this) for part in to.expressions if isinstance(part, exp.DataTypeParam)]
    sizes = tuple(int(text) for text in written if _SIZE.fullmatch(text))
    charset = to.args.get("kind")
    name = _NAMES.get(to.this)
    if name is None or len(sizes) != len(to.expressions):
        raise UnsupportedSQL(f"CAST AS {to.sql(dialect='mysql')[:40]} is not supported")
    if max(sizes, default=0) > _MOST_BYTES:
        raise ScenarioError(f"a length has at most {_MOST_BYTES}", value=str(max(sizes)))
    if len(sizes) > (2 if name == "DECIMAL" else 1):
        raise ScenarioError(f"SQL does not parse: {name} takes fewer numbers")
    if name == "DECIMAL":
        _check_decimal(*(*sizes, *(10, 0)[len(sizes) :]))
    if name in ("DATETIME", "TIME") and sizes and sizes[0] > MAX_FSP:
        raise ScenarioError("a fraction of a second has at most 6 digits", value=str(sizes[0]))
    if charset is not None:
        check_charset(charset.name)
    return CastType(name, sizes, charset.name.lower() if charset is not None else "")


def check_charset(name: str) -> None:
    """Check the charset of CHAR or CONVERT.

    :raises ScenarioError: for one that TiDB does not have.
    """
    if name.lower() == "gb18030":
        raise UnsupportedSQL(f"the charset {name} is not supported here")
    if name.lower() not in _CHARSETS:
        raise ScenarioError(f"Unknown character set: {name!r}", value=name)


def _check_decimal(precision: int, scale: int) -> None:
    """Check the sizes of DECIMAL(precision, scale)."""
    if precision > _MOST_DIGITS or scale > _MOST_DECIMALS:
        raise ScenarioError(
            f"a DECIMAL has at most {_MOST_DIGITS} digits, {_MOST_DECIMALS} of them after the point",
            value=f"DECIMAL({precision},{scale})",
        )
    if 0 < precision < scale:
        raise ScenarioError(
            f"DECIMAL({precision},{scale}) has fewer digits than digits after the point", value=str(precision)
        )


def is_float_cast(node: exp.Expr) -> bool:
    """Return whether an item of a SELECT list is a CAST to FLOAT."""
    return isinstance(node, exp.Cast) and node.to.this == exp.DType.FLOAT


_CHARSETS = ("utf8mb4", "utf8", "utf8mb3", "binary", "ascii", "latin1", "gbk")

# sqlglot parses REAL as FLOAT, too, although REAL is DOUBLE in MySQL.
_NAMES: dict[exp.DType, str] = {
    exp.DType.BIGINT: "SIGNED",
    exp.DType.UBIGINT: "UNSIGNED",
    exp.DType.DECIMAL: "DECIMAL",
    exp.DType.DOUBLE: "DOUBLE",
    exp.DType.FLOAT: "FLOAT",
    exp.DType.CHAR: "CHAR",
    exp.DType.CHARACTER_SET: "CHAR",
    exp.DType.BINARY: "BINARY",
    exp.DType.DATE: "DATE",
    exp.DType.DATETIME: "DATETIME",
    exp.DType.TIME: "TIME",
    exp.DType.YEAR: "YEAR",
    exp.DType.JSON: "JSON",
    exp.DType.VECTOR: "VECTOR",
}
_KINDS: Mapping[str, EvalType] = MappingProxyType({
    "SIGNED": E.INTEGER, "UNSIGNED": E.UNSIGNED, "DECIMAL": E.DECIMAL, "DOUBLE": E.DOUBLE, "FLOAT": E.DOUBLE,
    "YEAR": E.INTEGER, "CHAR": E.TEXT, "BINARY": E.BYTES, "DATE": E.DATE, "DATETIME": E.DATETIME,
    "TIME": E.TIME, "JSON": E.JSON, "VECTOR": E.UNKNOWN,
})  # fmt: skip
