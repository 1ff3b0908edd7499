"""The files of TiCDC's storage sink: their paths, and the content of schema files."""
