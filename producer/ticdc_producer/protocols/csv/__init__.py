"""CSV, a format of TiCDC's storage sink: each row change is a line of a file."""
