"""ticdc-producer: the sink side of TiCDC, simulated, for those who write its consumers."""
