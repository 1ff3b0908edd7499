"""Runs of scenarios for tests: each is made once, however many tests want it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from urllib.parse import parse_qsl, urlencode

from ticdc_producer.config.parameters import BY_NAME
from ticdc_producer.config.resolve import resolve
from ticdc_producer.config.sink_uri import default_sink_uri
from ticdc_producer.scenario.load import ScenarioFile, load_scenario
from ticdc_producer.testing.golden import Golden
from ticdc_producer.testing.marker import Asked, protocol_name

_Key: TypeAlias = tuple[str, str, tuple[str, ...], tuple[str, ...]]


@dataclass
class Runs:
    """The golden folders of one pytest process.

    :param new_folder: makes an empty folder.
    """

    new_folder: Callable[[], Path]
    _made: dict[_Key, Golden] = field(default_factory=dict)

    def golden(self, wanted: Asked, protocol: str, *, beside: Path) -> Golden:
        """The folder of a scenario in one protocol.

        :param protocol: a name, with parameters behind it; empty for the scenario's own.
        :param beside: folder of the test, where a scenario file is looked for first.
        :raises ProducerError: if the scenario or one of the arguments is wrong, or Spark does not start.
        """
        scenario = _found(wanted.scenario, beside)
        key = (scenario, protocol, wanted.traps, wanted.sets)
        if key not in self._made:
            from ticdc_producer.api import run

            uri = sink_uri(load_scenario(scenario, wanted.sets), protocol)
            folder = self.new_folder() / "golden"
            run(scenario, sink_uri=uri, out=folder, sets=wanted.sets, inject=wanted.traps)
            self._made[key] = Golden(folder)
        return self._made[key]


def own_protocol(wanted: Asked, *, beside: Path) -> str:
    """The protocol of a scenario's own changefeed.

    :raises ProducerError: if the scenario or its changefeed is wrong.
    """
    read = load_scenario(_found(wanted.scenario, beside), wanted.sets)
    return resolve(scenario=read.changefeed, name=read.name).protocol


def sink_uri(scenario: ScenarioFile, protocol: str) -> str:
    """The scenario's sink URI for another protocol, and without a broker.

    Partitions and whatever else it sets stay, but for the options that the protocol does not have.

    :param protocol: a name, with further parameters behind ``&``, which win over the scenario's; empty for
        the scenario's own.
    """
    own = str(scenario.changefeed.get("sink-uri") or default_sink_uri(scenario.name))
    path, _, query = own.partition("?")
    topic = path.rpartition("/")[2]
    kept = dict(parse_qsl(query, keep_blank_values=True))
    if protocol:
        name, given = protocol_name(protocol), parse_qsl(protocol.partition("&")[2], keep_blank_values=True)
        kept = {option: value for option, value in kept.items() if _has(name, option)}
        kept.update({"protocol": name, **dict(given)})
    return f"kafka:///{topic}?{urlencode(kept)}" if kept else f"kafka:///{topic}"


def _has(protocol: str, option: str) -> bool:
    parameter = BY_NAME.get(option)
    return parameter is None or not parameter.protocols or protocol in parameter.protocols


def _found(scenario: str, beside: Path) -> str:
    """A scenario file beside the test, or whatever the name means elsewhere."""
    place = beside / scenario
    return str(place) if place.is_file() else scenario
