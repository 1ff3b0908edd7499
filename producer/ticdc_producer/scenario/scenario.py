"""A scenario that is built in Python, with the words of a scenario file, and its text as YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from types import NoneType
from typing import Any, Literal, Self, TypedDict, Unpack

import numpy as np
import yaml

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import shortened
from ticdc_producer.local_path import local_path
from ticdc_producer.model.html_table import html_table
from ticdc_producer.scenario.frames.frame import GivenFrame, frame_of
from ticdc_producer.scenario.parse import parse_scenario
from ticdc_producer.scenario.recordings import with_recording
from ticdc_producer.scenario.scenario_file import ScenarioFile

_HALF_PAIR = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""A surrogate that is not a byte of a ``.sql`` file that is not UTF-8."""
_VARIABLE = re.compile(r"\$(?=\{[A-Za-z_][A-Za-z0-9_]*\})")


class _Dumper(yaml.SafeDumper):
    """A YAML dumper that prints texts of several lines as blocks, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # PyYAML calls it
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    half = _HALF_PAIR.search(text)
    if half is not None:
        what = f"a text of the scenario has the character U+{ord(half[0]):04X}, half of a pair"
        raise ScenarioError(what, hint="bytes that are not UTF-8 can be written as x'…'")
    # In other styles than '"' PyYAML reads these line breaks as blanks.
    unusual = any(character in text for character in "\x85\u2028\u2029")
    style = '"' if unusual else "|" if "\n" in text.rstrip("\n") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def yaml_text(document: Mapping[str, object]) -> str:
    """Return a document as text, from which ``read_yaml`` reads the same values.

    :param document: a result of ``plain_values``.
    :raises ScenarioError: for a text that is not Unicode.
    """
    text: str = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)
    return text


def literal(text: str) -> str:
    """Return a text in which ``${NAME}`` is text, and does not name an environment variable."""
    return _VARIABLE.sub("$$", text)


def _statements(text: object) -> str:
    if not isinstance(text, str):
        raise ScenarioError(f"SQL is a text, and not {type(text).__name__}")
    return literal(text)


def plain_values(value: object) -> object:
    """Return a Python value as the values of YAML that a scenario has in its place.

    :raises ScenarioError: for a value of another type.

    >>> plain_values({"every": timedelta(seconds=5), "columns": ("a",)})
    {'every': '5000ms', 'columns': ['a']}
    """
    if isinstance(value, Mapping):
        return {str(key): plain_values(entry) for key, entry in value.items()}
    if isinstance(value, np.generic):
        return plain_values(value.item())
    if isinstance(value, list | tuple):
        return [plain_values(entry) for entry in value]
    if isinstance(value, timedelta):
        return f"{value // timedelta(milliseconds=1)}ms"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, str | int | float | date | NoneType):
        what = f"a scenario has no values of type {type(value).__name__}: {value!r}"
        raise ScenarioError(what, hint="give a text, a number, a time, a list or a mapping")
    return value


_LONGEST_CELL = 80


class ScenarioSettings(TypedDict, total=False):
    """The arguments of a scenario besides its name."""

    description: str
    seed: int
    clock: Mapping[str, object]
    session: Mapping[str, object]
    resolved: Mapping[str, object]
    changefeed: Mapping[str, object]
    start_ts: int | datetime
    target_ts: int | datetime
    faults: Mapping[str, object]
    on_error: Literal["stop", "skip"]


class Scenario:
    """A scenario: what was committed upstream, step by step.

    Everything that takes a path of a scenario takes this object. Each method adds a step and returns the
    scenario. The arguments have the names and the values of the keys of a scenario file, with ``_`` for
    ``-``; ``${NAME}`` is an environment variable as in a file, except in SQL. Errors name a line of the text
    that ``to_yaml`` returns.

    ::

        scenario = Scenario("orders").sql("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1);")
        report = ticdc_producer.run(scenario, out="golden/orders")

    :param name: its name in reports.
    :param seed: random seed of ``generate`` steps and faults.
    :param clock: ``start``, ``every`` and ``build-time``.
    :param session: ``database``, ``time-zone`` and ``now``.
    :param resolved: ``after`` or ``every``.
    :param changefeed: TiCDC's changefeed file, and ``sink-uri``.
    :param start_ts: the changefeed sends what commits after this time.
    :param target_ts: the changefeed sends what commits up to this time.
    :param faults: traps to inject, by id.
    """

    def __init__(
        self,
        name: str,
        *,
        description: str | None = None,
        seed: int | None = None,
        clock: Mapping[str, object] | None = None,
        session: Mapping[str, object] | None = None,
        resolved: Mapping[str, object] | None = None,
        changefeed: Mapping[str, object] | None = None,
        start_ts: int | datetime | None = None,
        target_ts: int | datetime | None = None,
        faults: Mapping[str, object] | None = None,
        on_error: Literal["stop", "skip"] | None = None,
    ) -> None:
        self.name = name
        keys = {
            "name": name,
            "description": description,
            "seed": seed,
            "clock": clock,
            "session": session,
            "resolved": resolved,
            "changefeed": changefeed,
            "start-ts": start_ts,
            "target-ts": target_ts,
            "faults": faults,
            "on-error": on_error,
        }
        self._keys = {key: plain_values(value) for key, value in keys.items() if value is not None}
        self._steps: list[dict[str, object]] = []
        self._frames: list[GivenFrame] = []

    @classmethod
    def from_dataframe(cls, df: object, name: str = "changes", **settings: Unpack[ScenarioSettings]) -> Self:
        """Return the scenario of a DataFrame whose rows are statements and row changes.

        :param df: with the columns of ``changes`` without ``table``.
        :param settings: as of the class.
        """
        return cls(name, **settings).changes(df)

    def sql(self, text: str, *, commit_ts: int | datetime | None = None) -> Self:
        """Add SQL statements; BEGIN … COMMIT is one transaction, other statements commit by themselves."""
        return self._add("sql", _statements(text), commit_ts)

    def txn(self, text: str, *, commit_ts: int | datetime | None = None) -> Self:
        """Add one transaction of INSERT, REPLACE, UPDATE and DELETE statements."""
        return self._add("txn", _statements(text), commit_ts)

    def resolved(self, ts: int | datetime) -> Self:
        """Add a resolved event with a time stamp."""
        return self._add("resolved", ts, None)

    def snapshot(self) -> Self:
        """Let the changefeed start here: what the steps so far commit is in its snapshot."""
        return self._add("snapshot", True, None)

    def generate(self, *, commit_ts: int | datetime | None = None, **keys: object) -> Self:
        """Add random changes of tables; the arguments are the keys of a ``generate`` step."""
        return self._add("generate", _kebab(keys), commit_ts)

    def data(self, *, commit_ts: int | datetime | None = None, **keys: object) -> Self:
        """Add changes that Spark reads from a file or database; the arguments are the keys of ``data``."""
        return self._add("data", _kebab(keys), commit_ts)

    def changes(
        self,
        df: object,
        *,
        table: str | None = None,
        op: str | None = None,
        order: str | Sequence[str] | None = None,
        before: str | None = None,
        canonical: bool = False,
        commit_ts: int | datetime | None = None,
    ) -> Self:
        """Add changes in the rows of a DataFrame.

        With ``table`` each row is a change of that table, and its columns are those of the table. Without it
        the columns ``txn`` or ``commit_ts``, ``seq``, ``statement``, ``op``, ``schema``, ``table``,
        ``before`` and ``after`` say what each row does.

        :param df: of Spark, pandas or Polars, or an Arrow table, or another one with ``__arrow_c_stream__``.
        :param table: the table that all rows change.
        :param op: column of ``insert``, ``update`` or ``delete``; ``op`` by default.
        :param order: column with the number of the transaction, from 0, gaps allowed; optionally a second one
            with the position in it.
        :param before: struct column with the old row of updates. Without it the old row is the stored one
            with the same key.
        :param canonical: the images are maps of a column's name to the bytes of its canonical value; without
            ``table`` only.
        :param commit_ts: time stamp of the first transaction.
        :raises ScenarioError: for an object that is not a DataFrame.
        """
        keys = {
            "table": table,
            "op": op,
            "order": order,
            "before": before,
            "canonical": canonical or None,
        }
        self._frames.append(frame_of(df))
        given = {key: plain_values(value) for key, value in keys.items() if value is not None}
        return self._add("changes", {"frame": len(self._frames) - 1, **given}, commit_ts)

    def recording(self, folder: str | Path) -> Self:
        """Add the replay of a recording, which has the settings that the scenario lacks.

        :param folder: a result of ``record``.
        """
        return self._add("recording", local_path(folder), None)

    @property
    def has_dataframes(self) -> bool:
        """Whether it has ``changes`` steps, whose rows are not part of its text."""
        return bool(self._frames)

    def to_yaml(self) -> str:
        """Return the scenario as the text of a scenario file.

        ``changes`` steps name the files that ``write`` writes.
        """
        steps = [self._with_path(step) for step in self._steps]
        return yaml_text({"version": 1, **self._keys, "steps": steps})

    def write(self, path: str | Path) -> Path:
        """Write the scenario as a scenario file, and the DataFrames as Parquet files next to it.

        :param path: of the file, which ends with ``.yaml``; existing files are replaced.
        :return: the path.
        :raises ScenarioError: if the file cannot be written.
        """
        file = local_path(path)
        if file.suffix not in (".yaml", ".yml"):
            raise ScenarioError("the name of a scenario file ends with .yaml", file=str(file))
        text = self.to_yaml()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            for number, frame in enumerate(self._frames):
                frame.write(file.parent / self._path(number))
            file.write_text(text, "utf-8")
        except OSError as error:
            raise ScenarioError(f"cannot write the scenario: {error.strerror}", file=str(file)) from None
        return file

    def load(self, overrides: Sequence[str] = ()) -> ScenarioFile:
        """Validate the scenario.

        :param overrides: settings of the form ``PATH=VALUE``, applied in order.
        :raises ScenarioProblems: with all problems of its content.
        """
        frames = {self._path(number): frame for number, frame in enumerate(self._frames)}
        return with_recording(parse_scenario(self.to_yaml().encode(), self._file, overrides, frames))

    @property
    def _file(self) -> str:
        """The name of the text in errors."""
        return f"{self._file_name}.to_yaml()"

    @property
    def _file_name(self) -> str:
        return re.sub(r"[^\w.-]+", "-", self.name)[:100] or "scenario"

    def _add(self, kind: str, value: object, commit_ts: int | datetime | None) -> Self:
        step = {kind: plain_values(value)}
        if commit_ts is not None:
            step["commit-ts"] = plain_values(commit_ts)
        self._steps.append(step)
        return self

    def _path(self, number: int) -> str:
        """Return the name of the file of a DataFrame, by which equal rows have equal names."""
        return f"{self._file_name}-{number}-{self._frames[number].digest}.parquet"

    def _with_path(self, step: Mapping[str, object]) -> dict[str, object]:
        changes = step.get("changes")
        if not isinstance(changes, dict):
            return dict(step)
        keys = {key: value for key, value in changes.items() if key != "frame"}
        return {**step, "changes": {"path": self._path(changes["frame"]), **keys}}

    def __repr__(self) -> str:
        kinds = ", ".join(next(iter(step)) for step in self._steps)
        return f"Scenario({self.name!r}: {kinds or 'no steps'})"

    def _repr_html_(self) -> str:
        """Return the steps as a table of a notebook."""
        steps = [next(iter(step.items())) for step in self._steps]
        rows = [(kind, _cell("a DataFrame" if kind == "changes" else content)) for kind, content in steps]
        return html_table(f"Scenario {self.name}", ("step", "content"), rows)


def _kebab(keys: Mapping[str, object]) -> dict[str, object]:
    return {key.replace("_", "-"): value for key, value in keys.items()}


def _cell(value: object) -> str:
    return shortened(" ".join(str(value).split()), _LONGEST_CELL)
