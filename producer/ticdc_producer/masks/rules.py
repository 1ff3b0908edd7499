"""The rules file: which columns are masked, how, and with which key.

The key is never in the file: it comes from an environment variable or from a file of its own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import Field, ValidationError, field_validator, model_validator

from ticdc_producer.config.config_section import explain
from ticdc_producer.errors import ArgumentError, ScenarioError
from ticdc_producer.masks.cipher import CipherKey
from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.scenario.yaml_tree import StrictModel, read_yaml

Method: TypeAlias = Literal["keep", "hash", "format", "fake", "null", "date-shift"]
KEY_VARIABLE = "TICDC_PRODUCER_MASK_KEY"
_SHORTEST_KEY = 16
_PARTS = 3


class MaskRule(StrictModel):
    """One rule: the columns that it is about, and what becomes of their values."""

    columns: list[str] = Field(
        default=["*"], min_length=1, description="Patterns of SCHEMA.TABLE.COLUMN, TABLE.COLUMN or COLUMN."
    )
    types: list[str] = Field(
        default=[], description="SQL types without parameters, such as varchar; all without."
    )
    method: Method
    domain: str = Field(
        default="", description="Equal values of columns with the same method and domain stay equal."
    )
    provider: str = Field(default="", description="For fake: a provider of the Faker library, such as name.")
    locale: str = Field(default="en_US", description="For fake: the locale of the provider.")
    days: int = Field(default=365, ge=1, le=36500, description="For date-shift: the most days of the shift.")

    @field_validator("method", mode="before")
    @classmethod
    def _named(cls, method: object) -> object:
        return "null" if method is None else method  # the word without quotes is YAML's null

    @model_validator(mode="after")
    def _check(self) -> MaskRule:
        if self.method == "fake" and not self.provider:
            raise ValueError("fake requires a provider, such as name, email or address")
        if any(pattern.count(".") >= _PARTS for pattern in self.columns):
            raise ValueError("a pattern has three parts; write * for a dot in a name")
        return self


class MaskKey(StrictModel):
    """The source of the key."""

    env: str = Field(default=KEY_VARIABLE, description="The environment variable with the key.")
    file: str = Field(default="", description="A file with the key; replaces the environment variable.")


class MaskRulesFile(StrictModel):
    """The rules file. The first rule that matches a column counts; other columns keep their values."""

    rules: list[MaskRule]
    key: MaskKey = MaskKey()
    expressions: Literal["refuse", "keep"] = Field(
        default="refuse", description="What becomes of literals in expressions of DDLs about masked columns."
    )


@dataclass(frozen=True)
class ColumnMask:
    """The rule for the values of a column.

    :param secret: the key of its method and domain.
    """

    method: Method
    domain: str = ""
    provider: str = ""
    locale: str = "en_US"
    days: int = 365
    secret: CipherKey = field(default=CipherKey(bytes(16)), repr=False)


@dataclass(frozen=True)
class MaskRules:
    """Rules with their key.

    :param keeps_expressions: whether literals in expressions of DDLs stay.
    """

    rules: tuple[MaskRule, ...]
    key: bytes = field(repr=False)
    keeps_expressions: bool = False

    @property
    def text_mask(self) -> ColumnMask:
        """The mask of comments, which belong to no column."""
        return ColumnMask("format", secret=_derived(self.key, "comment"))

    @property
    def masks_any(self) -> bool:
        """Whether a rule masks the columns that it matches."""
        return any(rule.method != "keep" for rule in self.rules)

    def mask_of(self, schema: str, table: str, column: ColumnInfo) -> ColumnMask | None:
        """Return what becomes of a column; None: its values stay."""
        number = self.rule_of(schema, table, column)
        if number is None or self.rules[number].method == "keep":
            return None
        rule = self.rules[number]
        secret = _derived(self.key, f"{rule.method}/{rule.domain}")
        return ColumnMask(rule.method, rule.domain, rule.provider, rule.locale, rule.days, secret)

    def rule_of(self, schema: str, table: str, column: ColumnInfo) -> int | None:
        """Return the number of the first rule that matches a column, from 0; None: none does."""
        names = schema.lower(), table.lower(), column.name.lower()
        types = {column.type_name, column.type_name.partition(" ")[0]}
        for number, (rule, patterns) in enumerate(zip(self.rules, self._patterns, strict=True)):
            fits = not rule.types or not types.isdisjoint(map(str.lower, rule.types))
            if fits and any(
                all(part.fullmatch(name) for part, name in zip(pattern, names, strict=True))
                for pattern in patterns
            ):
                return number
        return None

    @cached_property
    def _patterns(self) -> list[list[tuple[re.Pattern[str], ...]]]:
        return [[*map(_pattern, rule.columns)] for rule in self.rules]


@lru_cache(maxsize=256)
def _derived(key: bytes, purpose: str) -> CipherKey:
    return CipherKey.derived(key, purpose)


def _pattern(text: str) -> tuple[re.Pattern[str], ...]:
    """Return the expressions of database, table and column; parts that are left out match any name."""
    parts = text.lower().split(".")
    whole = [*["*"] * (_PARTS - len(parts)), *parts]
    return tuple(re.compile(re.escape(part).replace(r"\*", ".*"), re.DOTALL) for part in whole)


def read_rules(path: Path, environ: Mapping[str, str] = os.environ) -> MaskRules:
    """Read a rules file and the key that it names.

    :param environ: the environment variables.
    :raises ScenarioError: for a file that is not valid, with its line.
    :raises ArgumentError: for a file that cannot be read, and without a key.
    """
    tree = read_yaml(_text(path, "the rules"), str(path))
    if tree.problems:
        raise tree.problems[0]
    try:
        parsed = MaskRulesFile.model_validate(tree.data)
    except ValidationError as error:
        first = explain(error, MaskRulesFile)[0]
        above = (first.path[:size] for size in range(len(first.path), -1, -1))
        line = next((tree.lines[where] for where in above if where in tree.lines), 0)
        raise ScenarioError(first.what, file=str(path), line=line, hint=first.hint) from None
    return MaskRules(tuple(parsed.rules), _key(parsed.key, path, environ), parsed.expressions == "keep")


def _key(source: MaskKey, rules: Path, environ: Mapping[str, str]) -> bytes:
    in_file = bool(source.file)
    key = _text(rules.parent / source.file, "the key").strip() if in_file else environ.get(source.env, "")
    if len(key) < _SHORTEST_KEY:
        given = f"the file {source.file}" if source.file else f"the environment variable {source.env}"
        what = f"the key of the masks is missing or has less than {_SHORTEST_KEY} characters"
        raise ArgumentError(what, argument="mask", hint=f"{given} holds it").about("mask")
    return key.encode("utf-8", "surrogateescape")


def _text(path: Path, what: str) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ArgumentError(f"cannot read {what}: {reason}", argument="mask", where=str(path)).about(
            "mask"
        ) from None
