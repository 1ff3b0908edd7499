"""The messages that a changefeed sends for a script, without Spark or Kafka."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ticdc_producer.model.catalog import Catalog
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import SimulatedTopic, simulated_topic


def job_of(folder: Path, script: str, options: str) -> Job:
    """The prepared job of a script.

    :param options: parameters of the sink URI, such as ``protocol=debezium&output-ddl=true``.
    """
    path = folder / "script.sql"
    path.write_text(script, "utf-8")
    uri = f"kafka:///t?partition-num=1&{options}"
    return prepare(path, sink_uri=uri, overrides=["clock.build-time=2000-01-01T00:00:00Z"])


def catalog_of(folder: Path, script: str, options: str = "protocol=open-protocol") -> Catalog:
    """The catalog of a script, with the DDL texts that a changefeed sends."""
    return job_of(folder, script, options).history.catalog


def simulation_of(folder: Path, script: str, options: str) -> SimulatedTopic:
    """What the changefeed sends; rows that its encoder rejects are left out."""
    return simulated_topic(job_of(folder, script, options))


def messages_of(folder: Path, script: str, options: str, kind: str = "") -> list[tuple[bytes, bytes]]:
    """Key and value of each message; an absent one is empty.

    :param kind: ``row``, ``ddl`` or ``resolved``; empty for all.
    """
    messages = []
    for message in simulation_of(folder, script, options).messages.to_pylist():
        if kind in ("", message["type"]):
            messages.append((message["key"] or b"", message["value"] or b""))
    return messages


def values_of(folder: Path, script: str, options: str, kind: str = "") -> list[Any]:
    """The JSON value of each message."""
    return [json.loads(value) for _, value in messages_of(folder, script, options, kind)]
