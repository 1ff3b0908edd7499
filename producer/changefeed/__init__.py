"""The changefeed: sink URI, changefeed file and our own options as one validated object."""

from producer.changefeed.changefeed import Changefeed
from producer.changefeed.changefeed_file import ChangefeedFile, DispatchRule
from producer.changefeed.load_file import load_changefeed_toml
from producer.changefeed.parameter import Owner, Parameter, SinkKind, State
from producer.changefeed.parameters import PARAMETERS
from producer.changefeed.resolve import resolve
from producer.changefeed.sink_uri import ParsedSinkURI, SinkURI, parse_sink_uri

__all__ = [
    "PARAMETERS",
    "Changefeed",
    "ChangefeedFile",
    "DispatchRule",
    "Owner",
    "Parameter",
    "ParsedSinkURI",
    "SinkKind",
    "SinkURI",
    "State",
    "load_changefeed_toml",
    "parse_sink_uri",
    "resolve",
]
