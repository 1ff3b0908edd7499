"""The corpus as vectors: a file of lines per protocol, for packages in other languages.

A case is built in each profile. If its messages and their content are equal, one vector has both profiles.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import msgspec

from ticdc_producer.conformance.case import ApplyCase, Case
from ticdc_producer.conformance.case_spec import ApplyCaseSpec, DecodeCase, Level
from ticdc_producer.conformance.catalog import AnyCase, CaseSpec, build_case, case_specs, selected
from ticdc_producer.conformance.compare import ExpectedRows
from ticdc_producer.conformance.restart.case import RestartCase
from ticdc_producer.conformance.vector import Vector, VectorEvent, VectorTable, vector_schema
from ticdc_producer.conformance.wire import LARGE, KafkaRecord
from ticdc_producer.errors import EncodeError
from ticdc_producer.installation import own_version
from ticdc_producer.model.parameter import Profile
from ticdc_producer.protocols.registry import protocol_spec
from ticdc_producer.targets.golden import write as sink
from ticdc_producer.targets.golden.folder import new_folder

TOPICS = ("seed_t1*", "ddl-mix", "from-dump", "all-traps", "bank.without-extension")
"""The topics of the vectors, unless others are selected: these have few bytes for what they test."""
SCHEMA, README = "vectors.schema.json", "README.md"
_TOPIC, _PROFILE = "conformance", "profile"
_LINES = msgspec.json.Encoder()


class VectorCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of written vectors, and of their messages."""

    vectors: int
    messages: int


def vector_specs(
    levels: Collection[Level], protocols: Collection[str], globs: Sequence[str]
) -> list[CaseSpec]:
    """Select the cases that become vectors.

    :param globs: of ids; empty: all messages and folders, and the topics ``TOPICS``.
    :raises ConformanceError: for a glob that matches no case.
    """
    specs = selected(case_specs(levels), protocols, globs)
    if globs:
        return specs
    topics = {
        spec.id for spec in selected(case_specs((Level.APPLY,)), (), [f"*.apply.{name}" for name in TOPICS])
    }
    return [spec for spec in specs if not isinstance(spec, ApplyCaseSpec) or spec.id in topics]


def vectors_of(spec: CaseSpec, on_status: Callable[[str], None]) -> Iterator[Vector]:
    """Yield the vectors of a case: one, or one per profile if they differ.

    :param on_status: called before something that takes long.
    :raises ProducerError: if the case cannot be built.
    :raises ValueError: for a case of the restart level, which is a conversation.
    """
    case = build_case(spec, on_status)
    if not isinstance(spec, DecodeCase | ApplyCaseSpec):
        yield _vector(case, "classic")
        return
    if spec.options.get(_PROFILE) == "new":
        yield _vector(case, "new")
        return
    classic, new = _vector(case, "classic"), _in_new_architecture(spec, on_status)
    if new is None:
        yield classic
    elif _content(new) == _content(classic):
        yield msgspec.structs.replace(classic, profiles=["classic", "new"])
    else:
        yield classic
        yield msgspec.structs.replace(new, id=f"{new.id}@new")


def _in_new_architecture(spec: DecodeCase | ApplyCaseSpec, on_status: Callable[[str], None]) -> Vector | None:
    """Return the vector of the profile ``new``; None if it has no such protocol or rejects the case."""
    if "new" not in protocol_spec(spec.protocol).profiles:
        return None
    options = {**spec.options, _PROFILE: "new"}
    try:
        return _vector(build_case(replace(spec, options=options), on_status), "new")
    except EncodeError:
        return None


def _content(vector: Vector) -> Vector:
    """Return a vector without what is different in each profile."""
    options = {name: value for name, value in vector.options.items() if name != _PROFILE}
    return msgspec.structs.replace(vector, profiles=[], options=options)


def _vector(case: AnyCase, profile: Profile) -> Vector:
    if isinstance(case, RestartCase):
        raise ValueError(f"{case.id} has no messages without a conversation")
    request = msgspec.to_builtins(case.request)
    vector = Vector(
        id=case.id,
        description=case.description,
        profiles=[profile],
        level=case.request.level,
        protocol=case.request.protocol,
        options=request["options"],
        schemas=request.get("schemas", {}),
    )
    if isinstance(case, Case):
        return msgspec.structs.replace(vector, **_of_message(case))
    tables = {table.name: _table(table) for table in case.expected}
    follows_ddl = request.get("follows_ddl", False)
    vector = msgspec.structs.replace(vector, tables=tables, follows_ddl=follows_ddl)
    of_case = _of_topic(case) if isinstance(case, ApplyCase) else {"files": _files(Path(request["folder"]))}
    return msgspec.structs.replace(vector, **of_case)


def _table(table: ExpectedRows) -> VectorTable:
    return VectorTable(key=table.key, types=table.types, rows=table.rows)


def _of_message(case: Case) -> Mapping[str, object]:
    described = case.request.described or []
    parts = [*((None, value) for value in described), (case.request.key, case.request.value)]
    messages = [
        KafkaRecord(topic=_TOPIC, partition=0, offset=offset, key=key, value=value)
        for offset, (key, value) in enumerate(parts)
    ]
    position = {"topic": _TOPIC, "partition": 0, "offset": len(described)}
    lines = (msgspec.to_builtins(event) for event in case.expected or ())
    events = [_event({**line, **position, "index": index}) for index, line in enumerate(lines)]
    return {"messages": messages, "events": events, "damaged": case.expected is None}


def _event(line: Mapping[str, object]) -> VectorEvent:
    """Return the event of a line of ``events.jsonl``."""
    texts = {name: str(line[name]) for name in LARGE if line.get(name) is not None}
    return msgspec.convert({**line, **texts}, VectorEvent)


def _of_topic(case: ApplyCase) -> Mapping[str, object]:
    with (case.golden / "events.jsonl").open(encoding="utf-8", newline="\n") as lines:
        events = [_event(json.loads(line)) for line in lines]
    request = case.request
    return {
        "messages": request.messages,
        "events": events,
        "resolved_ts": request.resolved_ts_text or None,
        "partitions": request.partitions or {},
        "snapshot": request.snapshot or [],
    }


def _files(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): b64encode(path.read_bytes()).decode() for path in paths}


def write_vectors(folder: Path, specs: Sequence[CaseSpec], on_status: Callable[[str], None]) -> VectorCounts:
    """Write ``PROTOCOL.jsonl``, the JSON Schema of their lines, a README and a manifest.

    The manifest has the numbers of vectors and messages per protocol, and the sha256 of every file. The same
    version writes the same bytes.

    :param on_status: called before a case that takes long.
    :raises FolderError: if the folder exists already.
    :raises ProducerError: if a case cannot be built.
    """
    protocols = dict.fromkeys(spec.protocol for spec in specs)
    with new_folder(folder) as unfinished:
        counts = {
            protocol: _write_file(
                unfinished / f"{protocol}.jsonl",
                (
                    vector
                    for spec in specs
                    if spec.protocol == protocol
                    for vector in vectors_of(spec, on_status)
                ),
            )
            for protocol in protocols
        }
        schema = json.dumps(vector_schema(), indent=2, ensure_ascii=False)
        (unfinished / SCHEMA).write_text(schema + "\n", "utf-8")
        text = files("ticdc_producer.conformance").joinpath("vectors.md").read_text("utf-8")
        (unfinished / README).write_text(text, "utf-8")
        tool, by_protocol = f"ticdc-producer {own_version()}", msgspec.to_builtins(counts)
        sink.write_manifest(unfinished, {"tool": tool, "protocols": by_protocol})
    return VectorCounts(
        vectors=sum(count.vectors for count in counts.values()),
        messages=sum(count.messages for count in counts.values()),
    )


def _write_file(path: Path, vectors: Iterable[Vector]) -> VectorCounts:
    count = messages = 0
    with path.open("wb") as file:
        for vector in vectors:
            file.write(_LINES.encode(vector) + b"\n")
            count, messages = count + 1, messages + len(vector.messages)
    return VectorCounts(vectors=count, messages=messages)
