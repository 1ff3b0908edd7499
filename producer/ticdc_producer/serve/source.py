"""What a verification and ``decode`` read: a topic of the service's Kafka, or posted files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ticdc_producer.serve.policy import check_sink_uri
from ticdc_producer.serve.posted import on_kafka, properties_for
from ticdc_producer.serve.posted_files import PostedFiles
from ticdc_producer.serve.settings import ServeSettings


@contextmanager
def source(
    sink_uri: str, posted: PostedFiles | None, folder: Path, settings: ServeSettings
) -> Iterator[dict[str, Any]]:
    """What is read, as arguments of ``verify`` and ``decode``.

    :param posted: read instead of the topic.
    :param folder: gets the posted files.
    :raises RefusedRequest: for a topic or files that this service does not read.
    """
    if posted is None:
        check_sink_uri(sink_uri, settings, "sink URI")
        uri = on_kafka(sink_uri, settings)
        yield {"sink_uri": uri, "kafka_properties": properties_for(uri, settings)}
        return
    with posted.written(folder / "posted") as path:
        yield {"file" if path.is_file() else "folder": path}
