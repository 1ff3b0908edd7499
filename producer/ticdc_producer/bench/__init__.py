"""Benchmarks of encoders and decoders, on the rows on which TiCDC itself was measured."""
