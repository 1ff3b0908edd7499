"""An embedded Kafka with TLS, SASL and permissions, and certificates made for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import trustme
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from cryptography.hazmat.primitives import serialization

from ticdc_producer.kafka.embedded import EmbeddedKafka

PASSWORD = "p&ss=w%rd/+ 1@2"
"""The password of all users; its special characters must be percent-encoded in a URI."""
WRITER = "writer"
"""A user with the permissions that runs need."""
STRANGER = "stranger"
"""A user with a password and no permission."""
_LOGIN = "org.apache.kafka.common.security"


@dataclass(frozen=True)
class SecuredKafka:
    """A broker with two further listeners: ``SAFE`` for SASL over TLS, ``TLS`` for certificates of clients.

    :param folder: holds ``ca.pem``, ``other-ca.pem``, ``client.pem`` and ``client.key``.
    """

    broker: EmbeddedKafka
    folder: Path

    def uri(self, topic: str, *, password: str = quote(PASSWORD, safe=""), **parameters: str) -> str:
        """A sink URI for the listener ``SAFE`` with the credentials of ``WRITER``.

        :param parameters: override the default parameters or add to them; ``_`` for ``-``.
        """
        merged = {
            "protocol": "open-protocol",
            "partition_num": "2",
            "ca": str(self.folder / "ca.pem"),
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_user": WRITER,
            "sasl_password": password,
            **parameters,
        }
        query = "&".join(f"{name.replace('_', '-')}={value}" for name, value in merged.items() if value)
        return f"kafka://{self.broker.address('SAFE')}/{topic}?{query}"

    def client(self, password: str) -> list[str]:
        """The credentials of ``WRITER`` for the listener ``SAFE`` as client properties."""
        return [
            "security.protocol=SASL_SSL",
            f"ssl.ca.location={self.folder / 'ca.pem'}",
            "sasl.mechanism=SCRAM-SHA-512",
            f"sasl.username={WRITER}",
            f"sasl.password={password}",
        ]

    def tls_uri(self, topic: str, *, certificate: bool = True) -> str:
        """A sink URI for the listener ``TLS``."""
        own = f"&cert={self.folder / 'client.pem'}&key={self.folder / 'client.key'}" if certificate else ""
        ca = self.folder / "ca.pem"
        return f"kafka://{self.broker.address('TLS')}/{topic}?partition-num=1&ca={ca}{own}"


@contextmanager
def secured_kafka(folder: Path) -> Iterator[SecuredKafka]:
    """Run the broker while the block runs.

    :param folder: for certificates and keys.
    """
    _certificates(folder)
    listeners = {"SAFE": "SASL_SSL", "TLS": "SSL"}
    with EmbeddedKafka(properties=_properties(folder), listeners=listeners) as broker:
        _users(AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0}))
        yield SecuredKafka(broker, folder)


def _certificates(folder: Path) -> None:
    authority, other = trustme.CA(), trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    other.cert_pem.write_to_path(folder / "other-ca.pem")
    client = authority.issue_cert("client.test")
    client.cert_chain_pems[0].write_to_path(folder / "client.pem")
    client.private_key_pem.write_to_path(folder / "client.key")
    broker = authority.issue_cert("127.0.0.1")
    key = serialization.load_pem_private_key(broker.private_key_pem.bytes(), None)
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()  # Kafka reads only this format
    text = key.private_bytes(serialization.Encoding.PEM, *form)
    (folder / "broker.pem").write_bytes(text + b"".join(part.bytes() for part in broker.cert_chain_pems))


def _properties(folder: Path) -> dict[str, str]:
    scram = f"{_LOGIN}.scram.ScramLoginModule required;"
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.tls.ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^.*$/by-certificate/",
        "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.safe.plain.sasl.jaas.config": (
            f'{_LOGIN}.plain.PlainLoginModule required user_{WRITER}="{PASSWORD}";'
        ),
        "listener.name.safe.scram-sha-256.sasl.jaas.config": scram,
        "listener.name.safe.scram-sha-512.sasl.jaas.config": scram,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:by-certificate",
    }


def _users(admin: AdminClient) -> None:
    strong = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096)
    weaker = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    users = [(WRITER, strong), (WRITER, weaker), (STRANGER, strong)]
    for user, kind in users:
        futures = admin.alter_user_scram_credentials(
            [UserScramCredentialUpsertion(user, kind, PASSWORD.encode())]
        )
        futures[user].result()
    for future in admin.create_acls(_permissions()).values():
        future.result()


def _permissions() -> list[AclBinding]:
    """The permissions that docs/kafka.md and docs/testing.md require; no Write on ``read-only.*``."""
    topic, group = ResourceType.TOPIC, ResourceType.GROUP
    wanted = [
        *((topic, "secured", operation) for operation in ("DESCRIBE", "READ", "WRITE", "CREATE")),
        *((topic, "read-only", operation) for operation in ("DESCRIBE", "READ", "CREATE")),
        *((topic, "ticdc-", operation) for operation in ("DESCRIBE", "READ", "WRITE", "CREATE", "DELETE")),
        (group, "ticdc-producer", "READ"),
    ]
    prefixed, allow = ResourcePatternType.PREFIXED, AclPermissionType.ALLOW
    return [
        AclBinding(kind, prefix, prefixed, f"User:{WRITER}", "*", AclOperation[operation], allow)
        for kind, prefix, operation in wanted
    ]
