"""Add file and line to errors in the rules of a changefeed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ticdc_producer.config import ConfigSource, changefeed_content
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.scenario.load import ScenarioFile


@contextmanager
def locate_rule_errors(scenario: ScenarioFile, config: ConfigSource | None = None) -> Iterator[None]:
    """Locate errors of the block in the scenario or the changefeed file.

    :param config: the changefeed TOML or its content; its keys override those of the scenario.
    :raises ChangefeedError: the error of the block, with file and line if its key is in one of them.
    """
    try:
        yield
    except ChangefeedError as error:
        location = _locate(error.parameter, scenario, config)
        raise (error.at(location) if location else error) from None


def _locate(key: str, scenario: ScenarioFile, config: ConfigSource | None) -> str:
    if config is not None and _holds(changefeed_content(config), key.partition("[")[0].split(".")):
        return "`config`" if isinstance(config, Mapping) else str(config)
    above = key
    while above:
        if above in scenario.changefeed_lines:
            return f"{scenario.file}:{scenario.changefeed_lines[above]}"
        above = above[: max(above.rfind("."), above.rfind("["), 0)]
    return ""


def _holds(content: Mapping[str, Any], path: list[str]) -> bool:
    """Return whether a file contains the section of a key and the rules in it."""
    section = content.get(path[0])
    return len(path) > 1 and isinstance(section, Mapping) and path[1] in section
