"""TiCDC's storage sink: data files by table version, schema files, metadata."""
