"""Options of TiCDC that are refused, each with the reason."""

from __future__ import annotations

from ticdc_producer.model.option_type import Text
from ticdc_producer.model.parameter import KAFKA, STORAGE, Parameter, State

_KERBEROS = "the Kafka client that pip installs is built without Kerberos"
_OAUTH = "use -X sasl.mechanism=OAUTHBEARER and -X sasl.oauthbearer.…"
_CREDENTIALS = (
    "the file system reads them from its environment, as s3fs AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL"
)
_BY_NAME = "files of a table are always in a directory named after the table"
_BIDIRECTIONAL = "rows that come back from another cluster, and DDL by its role, are not simulated"


def _refused(name: str, reason: str, *, file_key: str, in_uri: bool = True) -> Parameter:
    return Parameter(
        name=name, value=Text(), state=State.REJECTED, effect=reason, file_key=file_key, in_uri=in_uri
    )


REFUSED = (
    *(
        _refused(f"sasl-gssapi-{name}", _KERBEROS, file_key=f"{KAFKA}sasl-gssapi-{name}")
        for name in (
            "auth-type", "keytab-path", "kerberos-config-path", "service-name", "user", "password", "realm",
            "disable-pafxfast",
        )
    ),
    *(
        _refused(f"sasl-oauth-{name}", _OAUTH, file_key=f"{KAFKA}sasl-oauth-{name}")
        for name in ("client-id", "client-secret", "token-url", "scopes", "grant-type", "audience")
    ),
    *(
        _refused(name, _CREDENTIALS, file_key="")
        for name in (
            "access-key", "secret-access-key", "session-token", "endpoint", "region", "force-path-style",
            "provider", "storage-class", "sse", "sse-kms-key-id", "acl", "role-arn", "external-id",
            "credentials-file", "predefined-acl", "account-name", "account-key", "sas-token", "access-tier",
        )
    ),
    _refused("use-table-id-as-path", _BY_NAME, file_key=STORAGE + "use-table-id-as-path"),
    _refused("bdr-mode", _BIDIRECTIONAL, file_key="bdr-mode", in_uri=False),
)  # fmt: skip
