"""``[sink.pulsar-config]``: the settings of Pulsar's client, for Pulsar sinks.

Source: ticdc ``pkg/config/sink.go`` (PulsarConfig, OAuth2), ``pkg/sink/pulsar/config.go`` (defaults).
"""

from __future__ import annotations

from pydantic import Field, ValidationError, model_validator

from ticdc_producer.config.changefeed_file import ChangefeedFile
from ticdc_producer.config.config_section import ConfigSection, spell
from ticdc_producer.errors import ChangefeedError

_KEY = "sink.pulsar-config"


def _dashed(name: str) -> str:
    return name.replace("_", "-")


class _Section(ConfigSection, alias_generator=_dashed, populate_by_name=True):
    """A section whose keys have dashes."""


class OAuth2Section(_Section):
    """``[sink.pulsar-config.oauth2]``"""

    oauth2_issuer_url: str = Field(min_length=1)
    oauth2_audience: str = Field(min_length=1)
    oauth2_private_key: str = Field(min_length=1, repr=False)
    oauth2_client_id: str = Field(min_length=1)
    oauth2_scope: str = ""


class PulsarSection(_Section):
    """``[sink.pulsar-config]``, with TiCDC's defaults. Times are in seconds, the publish delay in ms."""

    tls_key_file_path: str | None = None
    tls_certificate_file: str | None = None
    tls_trust_certs_file_path: str | None = None
    pulsar_producer_cache_size: int | None = None
    pulsar_version: str | None = None
    compression_type: str = ""
    connection_timeout: int = Field(default=5, ge=1, le=86_400)
    operation_timeout: int = Field(default=30, ge=1, le=86_400)
    batching_max_messages: int = Field(default=1000, ge=1, le=1_000_000)
    batching_max_publish_delay: int = Field(default=10, ge=1, le=3_600_000)
    send_timeout: int = Field(default=30, ge=1, le=86_400)
    authentication_token: str | None = Field(default=None, repr=False)
    token_from_file: str | None = None
    basic_user_name: str | None = None
    basic_password: str | None = Field(default=None, repr=False)
    auth_tls_certificate_path: str | None = None
    auth_tls_private_key_path: str | None = None
    oauth2: OAuth2Section | None = None
    output_raw_change_event: bool = False

    @model_validator(mode="after")
    def _trusts(self) -> PulsarSection:
        """Require what TiCDC's client requires (ticdc ``pkg/sink/pulsar/factory.go``)."""
        if self.authenticates_by_tls and self.tls_trust_certs_file_path is None:
            raise ValueError("tls-trust-certs-file-path is not set, and mTLS authentication is enabled")
        return self

    @property
    def authenticates_by_tls(self) -> bool:
        """Whether the client authenticates by its certificate, which is the last method that is tried."""
        earlier = (self.authentication_token, self.token_from_file, self.oauth2)
        by_password = self.basic_user_name is not None and self.basic_password is not None
        files = (self.auth_tls_certificate_path, self.auth_tls_private_key_path)
        return not by_password and not any(x is not None for x in earlier) and None not in files


def pulsar_section(file: ChangefeedFile) -> PulsarSection:
    """Return the settings of Pulsar's client. No error repeats a value, since it may be a secret.

    :raises ChangefeedError: for a value that is not valid.
    """
    content = None if file.sink is None else file.sink.pulsar_config
    try:
        return PulsarSection.model_validate({} if content is None else content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        key = ".".join(filter(None, (_KEY, spell(first["loc"]))))
        what = first["msg"].removeprefix("Value error, ")
        raise ChangefeedError(f"{key}: {what[:1].lower()}{what[1:]}", parameter=key) from None
