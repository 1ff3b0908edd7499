"""The changefeed of a scenario: the traps that change its options, and the lines that its errors name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ticdc_producer.config import Changefeed, ConfigSource, changefeed_content
from ticdc_producer.config.config_section import explain
from ticdc_producer.errors import ChangefeedError, FaultError
from ticdc_producer.faults.catalogue import Trap, trap
from ticdc_producer.faults.trap import TrapSetting
from ticdc_producer.scenario.scenario_file import ScenarioFile
from ticdc_producer.scenario.spec import Fault

_FORM = "`inject` takes ID, ID:rate=0.01 or ID:times=3"
_NUMBERS = {"rate": float, "times": int, "window": int}


def with_traps(scenario: ScenarioFile, inject: Sequence[str]) -> tuple[ScenarioFile, dict[str, TrapSetting]]:
    """Return the scenario with the changefeed options that its traps require, and the settings of its traps.

    :param inject: traps in addition to the scenario's; they override traps of the same id.
    :raises FaultError: for a trap that does not exist or cannot be injected.
    """
    faults = {name: (fault, _line(scenario, name)) for name, fault in scenario.faults.items()}
    for setting in inject:
        name, fault = _injected(setting)
        faults[name] = (fault, f"`inject` {setting}")
    changefeed: dict[str, Any] = deepcopy(dict(scenario.changefeed))
    settings: dict[str, TrapSetting] = {}
    for name, (fault, where) in faults.items():
        definition = _trap(name, where)
        if definition.mechanism == "scenario":
            hint = "the scenario all-traps contains it"
            raise FaultError(
                f"{name} is produced by SQL and cannot be injected", trap=name, where=where, hint=hint
            ).about("inject")
        for path, value in definition.changefeed_settings.items():
            _put(changefeed, path.split("."), value)
        settings[name] = TrapSetting(rate=fault.rate, times=fault.times, window=fault.window)
    return replace(scenario, changefeed=changefeed), settings


def settings_of(manifest: Mapping[str, object]) -> list[str]:
    """Return the traps of a golden folder, as ``inject`` takes them.

    :raises FaultError: if the manifest is invalid.
    """
    traps = manifest.get("traps") or {}
    if not isinstance(traps, dict) or not all(isinstance(setting, dict) for setting in traps.values()):
        raise FaultError("the manifest's traps are not a mapping of settings", hint="the folder is damaged")
    return [
        f"{name}:" + ",".join(f"{key}={value}" for key, value in setting.items() if value is not None)
        for name, setting in traps.items()
    ]


def check_protocol(traps: Mapping[str, TrapSetting], changefeed: Changefeed) -> None:
    """Reject traps that do not exist in the changefeed's protocol or profile.

    :raises FaultError: for the first of them.
    """
    for name in traps:
        definition = trap(name)
        if changefeed.protocol not in definition.protocols:
            hint = f"protocols with it: {', '.join(definition.protocols)}"
            raise FaultError(f"{name} does not exist in protocol {changefeed.protocol}", trap=name, hint=hint)
        if changefeed.profile not in definition.profiles:
            hint = f"profile={definition.profiles[0]}"
            raise FaultError(f"{name} does not exist in profile {changefeed.profile}", trap=name, hint=hint)


def _line(scenario: ScenarioFile, name: str) -> str:
    return f"{scenario.file}:{scenario.fault_lines.get(name, 0)}"


def _trap(name: str, where: str) -> Trap:
    try:
        return trap(name)
    except FaultError as error:
        raise FaultError(error.what, trap=name, where=where, hint=error.hint).about(
            "inject", *error.arguments
        ) from None


def _injected(setting: str) -> tuple[str, Fault]:
    name, _, numbers = setting.partition(":")
    where = f"`inject` {setting}"
    given: dict[str, float] = {}
    for part in filter(None, numbers.split(",")):
        key, equals, value = part.partition("=")
        if not equals or key not in _NUMBERS:
            raise FaultError(
                f"{part!r} is not a rate, times or window setting", trap=name, where=where, hint=_FORM
            ).about("inject")
        try:
            given[key] = _NUMBERS[key](value)
        except ValueError:
            what = f"{value!r} is not a number"
            raise FaultError(what, trap=name, where=where, hint=_FORM).about("inject") from None
    try:
        return name, Fault.model_validate(given)
    except ValidationError as error:
        what = explain(error, Fault)[0].what
        raise FaultError(what, trap=name, where=where, hint=_FORM).about("inject") from None


def _put(mapping: dict[str, Any], path: Sequence[str], value: Any) -> None:
    for key in path[:-1]:
        mapping = mapping.setdefault(key, {})
    mapping[path[-1]] = deepcopy(value)


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
