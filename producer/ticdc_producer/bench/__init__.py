"""Measuring what the tool does, on the rows on which TiCDC itself was measured."""
