"""CSV, the format of TiCDC's storage sink: a row is a line of a file."""
