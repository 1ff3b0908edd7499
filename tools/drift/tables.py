"""What the tables of this project know of TiCDC, under the names that a checkout has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.config_section import models_in
from ticdc_producer.config.parameters import BY_NAME, PARAMETERS, PROTOCOL, REJECTED_KEYS
from ticdc_producer.config.unused_parameters import KEYS_OF_NO_API
from ticdc_producer.dispatch.event_types import event_types
from ticdc_producer.model.catalog import Action
from ticdc_producer.model.column import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.option_type import UnusedSection
from ticdc_producer.model.parameter import PULSAR, Owner, Parameter, State


@dataclass(frozen=True, slots=True)
class FileKey:
    """A key of TiCDC's changefeed file.

    :param path: from the root of the file, with dots.
    :param state: the support of this project.
    :param reason: its effect, or why it has none.
    """

    path: str
    state: State
    reason: str


def file_keys() -> list[FileKey]:
    """Return the keys of TiCDC's changefeed file that this project knows; of a section only what is in it."""
    accepted = [key for key in _keys_of(ChangefeedFile) if key.path != "sink-uri"]
    refused = [FileKey(path, State.REJECTED, reason) for path, reason in REJECTED_KEYS.items()]
    return sorted((*accepted, *refused), key=lambda key: key.path)


_IN_URI = "TiCDC reads it in the sink URI only"


_RAW_OF_PULSAR = f"{PULSAR}output-raw-change-event"
_IN_SECTIONS = {
    option.file_key: FileKey(option.file_key, option.state, option.effect)
    for option in PARAMETERS
    if option.file_key
} | {_RAW_OF_PULSAR: FileKey(_RAW_OF_PULSAR, State.HONOURED, "")}
"""The keys that have an effect, also in a section whose other keys have none."""


def _keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[FileKey]:
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        option = BY_NAME.get(field.alias or name)
        below = next(models_in(field.annotation), None)
        if below is not None:
            lost = KEYS_OF_NO_API.get(path)
            for key in _keys_of(below, f"{path}."):
                yield FileKey(key.path, State.NO_EFFECT, lost) if lost else key
        elif option is None:
            yield FileKey(path, State.HONOURED, "")
        else:
            lost = KEYS_OF_NO_API.get(path) or ("" if option.file_key else _IN_URI)
            state, reason = (State.NO_EFFECT, lost) if lost else (option.state, option.effect)
            keys = option.value.keys if isinstance(option.value, UnusedSection) else ()
            if not keys:
                yield FileKey(path, state, reason)
            for full in (f"{path}.{key}" for key in keys):
                yield _IN_SECTIONS.get(full, FileKey(full, state, reason))


def uri_parameters() -> list[Parameter]:
    """Return the parameters of TiCDC's sink URIs that this project knows."""
    return [option for option in PARAMETERS if option.in_uri and option.owner is Owner.TICDC]


def _config_keys() -> set[str]:
    keys = {key.path for key in file_keys()}
    sections = {path[: end + 1] for path in keys for end, char in enumerate(path) if char == "."}
    return keys | sections


def _protocols() -> set[str]:
    return {*PROTOCOL.choices, *PROTOCOL.foreign, *PROTOCOL.later, *dict(PROTOCOL.aliases)}


_OTHER_NAMES = {
    "MODIFY_SCHEMA_CHARSET": "MODIFY_SCHEMA_CHARSET_AND_COLLATE",
    "MODIFY_TABLE_CHARSET": "MODIFY_TABLE_CHARSET_AND_COLLATE",
    "ALTER_TTL": "ALTER_TTL_INFO",
    "REMOVE_TTL": "ALTER_TTL_REMOVE",
    "GENERATED": "GENERATED_COLUMN",
}
"""Names of this project that are not TiDB's."""
_NOT_EXECUTED = {
    "CREATE_TABLES": "a restore creates tables with it; TiCDC sends one CREATE TABLE for each",
    "RECOVER_TABLE": "RECOVER TABLE and FLASHBACK TABLE are refused (scenario/sql/session/refusals.py)",
    "ADD_COLUMNS": "TiDB has MULTI_SCHEMA_CHANGE since 6.2",
    "DROP_COLUMNS": "TiDB has MULTI_SCHEMA_CHANGE since 6.2",
    "ADD_FULL_TEXT_INDEX": "FULLTEXT is refused (scenario/sql/session/refusals.py)",
    "CREATE_HYBRID_INDEX": "TiDB's parser does not know the statement",
}
"""Actions that no statement of a scenario causes, with the reason."""


def _ddl_types() -> set[str]:
    return {_OTHER_NAMES.get(action.name, action.name) for action in Action} | _NOT_EXECUTED.keys()


def _column_flags() -> set[str]:
    names = {flag.name or "": int(flag) for flag in ColumnFlag}
    return {f"{_OTHER_NAMES.get(name, name)}={bit:#04x}" for name, bit in names.items()}


TABLES: dict[str, Callable[[], set[str]]] = {
    "configuration keys": _config_keys,
    "sink URI parameters": lambda: {option.name for option in uri_parameters()},
    "protocols": _protocols,
    "DDL types": _ddl_types,
    "event types of filters": lambda: set(event_types("new")),
    "column flags": _column_flags,
    "type codes": lambda: {code.name for code in MySQLType},
}
"""What is compared, and what this project knows of it."""
