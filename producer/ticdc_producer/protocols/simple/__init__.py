"""Simple, TiCDC's self-describing protocol, in its JSON form: rows name the version of their table, whose
columns a DDL or BOOTSTRAP message describes.
"""
