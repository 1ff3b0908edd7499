"""Simple, TiCDC's self-describing protocol, encoded as JSON or Avro.

Row messages name the version of their table; a DDL or BOOTSTRAP message contains the schema of that version.
"""
