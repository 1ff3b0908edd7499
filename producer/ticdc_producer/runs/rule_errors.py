"""Errors in the rules of a changefeed get the file and the line of the key that they name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ticdc_producer.config import load_changefeed_toml
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.scenario.load import ScenarioFile


@contextmanager
def rules_placed(scenario: ScenarioFile, config: str | Path | None = None) -> Iterator[None]:
    """For what reads the rules that scenario and changefeed file make together.

    :param config: the changefeed TOML, whose keys win.
    :raises ChangefeedError: that which arose, with its place if it has one in them.
    """
    try:
        yield
    except ChangefeedError as error:
        place = _place(error.parameter, scenario, config)
        raise (error.at(place) if place else error) from None


def _place(key: str, scenario: ScenarioFile, config: str | Path | None) -> str:
    if config is not None and _holds(load_changefeed_toml(config), key.partition("[")[0].split(".")):
        return str(config)
    above = key
    while above:
        if above in scenario.changefeed_lines:
            return f"{scenario.file}:{scenario.changefeed_lines[above]}"
        above = above[: max(above.rfind("."), above.rfind("["), 0)]
    return ""


def _holds(content: Mapping[str, Any], path: list[str]) -> bool:
    """Whether a file has the section that a key stands in, and the rules in it."""
    section = content.get(path[0])
    return len(path) > 1 and isinstance(section, Mapping) and path[1] in section
