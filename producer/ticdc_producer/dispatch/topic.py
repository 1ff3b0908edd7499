"""Topic expressions: ``prefix_{schema}_{table}``.

Rules: tiflow ``cdc/sink/dmlsink/mq/dispatcher/topic/expression.go``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ticdc_producer.config.sink_uri import MAX_TOPIC_LENGTH, check_topic
from ticdc_producer.errors import ChangefeedError

_FIXED = re.compile(r"[A-Za-z0-9._-]+")
_EXPRESSION = re.compile(r"[A-Za-z0-9._-]*(\{schema\})?([A-Za-z0-9._-]*\{table\})?[A-Za-z0-9._-]*")
_FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class TopicExpression:
    """A topic expression; create it with ``parse``.

    :param text: the expression of the changefeed file, or the default topic if that is empty.
    """

    text: str

    @classmethod
    def parse(cls, text: str, default_topic: str) -> TopicExpression:
        """Parse the expression of a dispatch rule.

        :param default_topic: topic of the sink URI, used for an empty text.
        :raises ChangefeedError: if TiCDC or Kafka would reject it.
        """
        if not text:
            return cls(default_topic)
        try:
            if _FIXED.fullmatch(text):
                return cls(check_topic(text))
        except ValueError as error:
            raise ChangefeedError(str(error), parameter="topic") from None
        if not _EXPRESSION.fullmatch(text):
            raise ChangefeedError(
                f"{text!r} is not a topic expression",
                parameter="topic",
                hint="A-Z a-z 0-9 . _ - and, each at most once and in this order, {schema} and {table}",
            )
        return cls(text)

    def topic(self, schema: str, table: str) -> str:
        """The topic of a table."""
        if "{" not in self.text:
            return self.text
        name = self.text.replace("{schema}", _FORBIDDEN.sub("_", schema))
        name = name.replace("{table}", _FORBIDDEN.sub("_", table))
        if name in (".", ".."):
            return "_" * len(name)
        return name[:MAX_TOPIC_LENGTH]
