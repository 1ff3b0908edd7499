"""Translates a changefeed's TLS and SASL options into properties of librdkafka.

Rules: tiflow ``pkg/sink/kafka/options.go`` (``applyTLS``, ``applySASL``), ``pkg/security/credential.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ticdc_producer.errors import ChangefeedError
from ticdc_producer.model.option_type import Plain

SECURITY_OPTIONS = (
    "enable-tls",
    "ca",
    "cert",
    "key",
    "insecure-skip-verify",
    "sasl-mechanism",
    "sasl-user",
    "sasl-password",
)
"""The options that this module reads; none of their values is written to a manifest."""


def security_properties(options: Mapping[str, Plain]) -> dict[str, str]:
    """Client properties, as librdkafka spells them.

    Files are read here and their content is sent to Spark's workers, so workers need not have the files.

    :param options: the options by name; only ``SECURITY_OPTIONS`` are read.
    :raises ChangefeedError: for options that TiCDC refuses or would ignore, or a file that cannot be read.
    """
    tls, sasl = _tls(options), _sasl(options)
    protocol = ("sasl_" if sasl else "") + ("ssl" if tls else "plaintext")
    return {} if protocol == "plaintext" else {"security.protocol": protocol, **tls, **sasl}


def _tls(options: Mapping[str, Plain]) -> dict[str, str]:
    ca, cert, key = (str(options.get(name) or "") for name in ("ca", "cert", "key"))
    if (cert or key) and not (ca and cert and key):
        raise _error("ca, cert and key belong together", "cert" if cert else "key", "name all three files")
    wanted = options.get("enable-tls")
    if ca and wanted is False:
        raise _error("ca is given, but enable-tls is false", "enable-tls", "leave one of them out")
    if not (ca or wanted):
        if options.get("insecure-skip-verify"):
            raise _error("insecure-skip-verify without TLS", "insecure-skip-verify", "add enable-tls=true")
        return {}
    found = {"enable.ssl.certificate.verification": "true"}
    if options.get("insecure-skip-verify"):
        found = {
            "enable.ssl.certificate.verification": "false",
            "ssl.endpoint.identification.algorithm": "none",
        }
    files = {"ca": ("ssl.ca.pem", ca), "cert": ("ssl.certificate.pem", cert), "key": ("ssl.key.pem", key)}
    return found | {name: _pem(option, path) for option, (name, path) in files.items() if path}


def _pem(option: str, path: str) -> str:
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as error:
        raise _error(f"cannot read {path}: {error.strerror}", option) from None
    except ValueError:
        text = ""
    if "-----BEGIN" not in text:
        raise _error(f"{path} is not a PEM file", option, "TiCDC requires PEM, too")
    return text


def _sasl(options: Mapping[str, Plain]) -> dict[str, str]:
    mechanism, user, password = (options.get(f"sasl-{name}") for name in ("mechanism", "user", "password"))
    if not mechanism:
        if user or password:
            given = "sasl-user" if user else "sasl-password"
            hint = "TiCDC would connect without SASL; add sasl-mechanism, such as scram-sha-512"
            raise _error(f"{given} without sasl-mechanism", given, hint)
        return {}
    for name, value in (("sasl-user", user), ("sasl-password", password)):
        if not value:
            raise _error(f"sasl-mechanism {mechanism} needs {name}", name)
    return {
        "sasl.mechanism": str(mechanism).upper(),
        "sasl.username": str(user),
        "sasl.password": str(password),
    }


def _error(what: str, parameter: str, hint: str = "") -> ChangefeedError:
    return ChangefeedError(what, parameter=parameter, where="Kafka's security", hint=hint)
