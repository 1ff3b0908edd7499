"""The files of TiCDC's storage sink: their names, the schema files, what data files are made of."""
