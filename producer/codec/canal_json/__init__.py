"""Canal-JSON as TiCDC writes it: one event in one message, every value a JSON string.

Source of the rules: ``tiflow pkg/sink/codec/canal``; the bytes of its real encoder are the tests' judge.
"""

from producer.codec.canal_json.decoder import CanalJSONDecoder
from producer.codec.canal_json.encoder import CanalJSONEncoder
from producer.codec.canal_json.losses import CanalJSONLosses
from producer.codec.canal_json.options import CanalJSONOptions

__all__ = ["CanalJSONDecoder", "CanalJSONEncoder", "CanalJSONLosses", "CanalJSONOptions"]
