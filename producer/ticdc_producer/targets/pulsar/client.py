"""Pulsar's client with the settings of a changefeed. The library is an extra, imported when it is needed.

Source: ticdc ``pkg/sink/pulsar/factory.go``, ``downstreamadapter/sink/pulsar/helper.go``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from ticdc_producer.config import Changefeed
from ticdc_producer.config.pulsar import PulsarSection
from ticdc_producer.errors import BrokerError, MissingPartError
from ticdc_producer.installation import install_command

if TYPE_CHECKING:
    import pulsar

_PAUSE_S = 0.1
_SCHEMES = {"pulsar+http": "http", "pulsar+https": "https"}


def check_client() -> None:
    """Check that Pulsar's client is installed on this machine, which may be one of Spark's workers.

    :raises MissingPartError: if it is not; with the command that installs it.
    """
    if find_spec("pulsar") is None:
        what = f"a Pulsar sink needs pulsar-client, which is not installed on {gethostname()}"
        raise MissingPartError(what, hint=install_command("pulsar"))


@dataclass(frozen=True)
class PulsarCluster:
    """A Pulsar and the settings of its clients.

    :param url: the service URL, without credentials.
    :param settings: they may hold secrets.
    """

    url: str
    settings: PulsarSection = field(repr=False)

    @classmethod
    def of(cls, changefeed: Changefeed) -> PulsarCluster:
        """Return the Pulsar of a changefeed with a Pulsar sink."""
        uri = changefeed.sink_uri
        url = f"{_SCHEMES.get(uri.scheme, uri.scheme)}://{','.join(uri.hosts)}"
        return cls(url, changefeed.pulsar or PulsarSection())

    def for_tasks(self) -> PulsarCluster:
        """Return the Pulsar for clients in other processes, with the token of the driver's file.

        :raises BrokerError: if the file cannot be read.
        """
        settings = self.settings
        if settings.token_from_file is None or settings.authentication_token is not None:
            return self
        with self._settings_used():
            token = _token(settings.token_from_file)
        changes = {"authentication_token": token, "token_from_file": None}
        return replace(self, settings=settings.model_copy(update=changes))

    @property
    def timeout_ms(self) -> int:
        """How long an operation may take."""
        return self.settings.operation_timeout * 1000

    @contextmanager
    def client(self) -> Iterator[pulsar.Client]:
        """Open a client. It connects when it is used.

        :raises BrokerError: if its settings cannot be used, such as a file that does not exist.
        """
        import pulsar

        settings = self.settings
        with self._settings_used():
            client = pulsar.Client(
                self.url,
                authentication=_authentication(settings),
                operation_timeout_seconds=settings.operation_timeout,
                connection_timeout_ms=settings.connection_timeout * 1000,
                tls_trust_certs_file_path=settings.tls_trust_certs_file_path,
                tls_certificate_file_path=settings.tls_certificate_file,
                tls_private_key_file_path=settings.tls_key_file_path,
                # Errors are raised; the client's own log would be on standard output.
                logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull),
            )
        try:
            yield client
        finally:
            client.close()

    @contextmanager
    def _settings_used(self) -> Iterator[None]:
        """Convert the errors of settings that cannot be used."""
        import pulsar

        try:
            yield
        except (pulsar.PulsarException, OSError, ValueError) as error:
            what = f"no client of Pulsar at {self.url}: {reason(error)}"
            raise BrokerError(what, hint="check sink.pulsar-config") from None

    @contextmanager
    def producer(
        self, client: pulsar.Client, topic: str, name: str | None = None
    ) -> Iterator[pulsar.Producer]:
        """Create the producer of a topic, which Pulsar creates if it may, or of a partition.

        At the end of the block Pulsar has stored or rejected what was sent; the client drops its queue.

        :param name: its name. It waits for the end of another one of this name, such as that of a lost task.
        :raises BrokerError: if no broker answers, or it refuses the producer.
        """
        import pulsar

        try:
            producer = self._create_producer(client, topic, name)
        except pulsar.PulsarException as error:
            what = f"no producer for topic {topic} of Pulsar at {self.url}: {reason(error)}"
            raise BrokerError(what, hint="start Pulsar, or correct the sink URI") from None
        try:
            yield producer
        finally:
            with suppress(pulsar.PulsarException):
                producer.close()

    def _create_producer(self, client: pulsar.Client, topic: str, name: str | None) -> pulsar.Producer:
        import pulsar

        settings = self.settings
        deadline = time.monotonic() + settings.operation_timeout
        while True:
            try:
                return client.create_producer(
                    topic,
                    producer_name=name,
                    send_timeout_millis=settings.send_timeout * 1000,
                    compression_type=_compression(settings.compression_type),
                    batching_enabled=True,
                    batching_max_messages=settings.batching_max_messages,
                    batching_max_publish_delay_ms=settings.batching_max_publish_delay,
                    block_if_queue_full=True,
                )
            except pulsar.ProducerBusy:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_S)


def reason(error: Exception) -> str:
    """Return the reason of an error of the client, without text that it may have from a server."""
    return type(error).__name__


def _compression(name: str) -> Any:
    """Return the compression; none for an unknown name, as in TiCDC (``PulsarCompressionType.Value``)."""
    import pulsar

    kinds = {
        "lz4": pulsar.CompressionType.LZ4,
        "zlib": pulsar.CompressionType.ZLib,
        "zstd": pulsar.CompressionType.ZSTD,
    }
    return kinds.get(name.lower(), pulsar.CompressionType.NONE)


def _token(file: str) -> str:
    return Path(file).read_text("utf-8").strip()


def _authentication(settings: PulsarSection) -> pulsar.Authentication | None:
    """Return the first method that is set, in TiCDC's order (``setupAuthentication``)."""
    import pulsar

    if settings.authentication_token is not None:
        return pulsar.AuthenticationToken(settings.authentication_token)
    if settings.token_from_file is not None:
        return pulsar.AuthenticationToken(_token(settings.token_from_file))
    if settings.basic_user_name is not None and settings.basic_password is not None:
        return pulsar.AuthenticationBasic(settings.basic_user_name, settings.basic_password)
    if settings.oauth2 is not None:
        oauth2 = settings.oauth2
        return pulsar.AuthenticationOauth2(
            json.dumps(
                {
                    "type": "client_credentials",
                    "issuer_url": oauth2.oauth2_issuer_url,
                    "audience": oauth2.oauth2_audience,
                    "private_key": oauth2.oauth2_private_key,
                    "client_id": oauth2.oauth2_client_id,
                    "scope": oauth2.oauth2_scope,
                }
            )
        )
    if settings.authenticates_by_tls:
        return pulsar.AuthenticationTLS(
            settings.auth_tls_certificate_path, settings.auth_tls_private_key_path
        )
    return None
