"""The changefeed: sink URI, changefeed file and our own options as one validated object."""

from ticdc_producer.config.changefeed import Changefeed
from ticdc_producer.config.changefeed_file import ChangefeedFile, DispatchRule
from ticdc_producer.config.changefeed_toml import ConfigSource, changefeed_content, load_changefeed_toml
from ticdc_producer.config.parameters import PARAMETERS
from ticdc_producer.config.resolve import resolve
from ticdc_producer.config.sink_uri import ParsedSinkURI, SinkURI, parse_sink_uri
from ticdc_producer.model.parameter import Owner, Parameter, SinkKind, State

__all__ = [
    "PARAMETERS",
    "Changefeed",
    "ChangefeedFile",
    "ConfigSource",
    "DispatchRule",
    "Owner",
    "Parameter",
    "ParsedSinkURI",
    "SinkKind",
    "SinkURI",
    "State",
    "changefeed_content",
    "load_changefeed_toml",
    "parse_sink_uri",
    "resolve",
]
