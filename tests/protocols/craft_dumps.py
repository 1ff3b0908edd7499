"""Craft messages byte by byte: the three of the published format, and one of two rows."""

from __future__ import annotations


def _octets(annotated: str) -> bytes:
    """The hex digits of each line, up to the annotation."""
    return b"".join(bytes.fromhex(line.split("  ")[0]) for line in annotated.strip().splitlines())


ROW = _octets("""
01  version
81 80 f0 81 81 b5 de f1 05  commit-ts
01  row changed
01  no partition
00  schema: term 0
02  table: term 1
01  new values
08  of 8 columns
04 02 02 02 02 02 02 02  names: terms 2 to 9
0f fe 01 0a 07 0c 04 03 06  types; char needs two bytes
00 00 00 00 00 00 00 00  flags
10 0e 14 26 26 10 04 01  lengths 8, 7, 10, 19, 19, 8, 2, NULL
76 61 72 63 68 61 72 31  varchar1
73 74 72 69 6e 67 31  string1
32 30 32 31 2f 30 31 2f 30 32  2021/01/02
32 30 32 31 2f 30 31 2f 30 32 20 30 30 3a 30 30 3a 30 30  2021/01/02 00:00:00
32 30 32 31 2f 30 31 2f 30 32 20 30 30 3a 30 30 3a 30 30  2021/01/02 00:00:00
00 00 00 00 00 00 00 40  2.0
a0 1f  2000
02  old values
08  of 8 columns
04 02 02 02 02 02 02 02  names
0f fe 01 0a 07 0c 04 03 06  types
00 00 00 00 00 00 00 00  flags
10 0e 14 26 26 10 04 01  lengths
76 61 72 63 68 61 72 30  varchar0
73 74 72 69 6e 67 30  string0
32 30 32 31 2f 30 31 2f 30 31  2021/01/01
32 30 32 31 2f 30 31 2f 30 31 20 30 30 3a 30 30 3a 30 30  2021/01/01 00:00:00
32 30 32 31 2f 30 31 2f 30 31 20 30 30 3a 30 30 3a 30 30  2021/01/01 00:00:00
00 00 00 00 00 00 f0 3f  1.0
d0 0f  1000
0a  dictionary of 10 terms
01 01 07 06 04 09 08 05 04 04  their lengths
61 62 76 61 72 63 68 61 72 73 74 72 69 6e 67 64 61 74 65  a b varchar string date
74 69 6d 65 73 74 61 6d 70 64 61 74 65 74 69 6d 65  timestamp datetime
66 6c 6f 61 74 6c 6f 6e 67 6e 75 6c 6c  float long null
02 1a 5e  sizes of header and dictionary: 13, and 47 more
01 b0 03  size of the body: 216
02 d8 01 00  sizes of its groups: 108 each
0a  the size tables take 10 bytes
""")

DDL = _octets("""
01  version
81 80 c0 dc f5 b5 de f1 05  commit-ts
02  DDL
01  no partition
00  schema: term 0
02  table: term 1
01  create schema
0e  length of the query
63 72 65 61 74 65 20 74 61 62 6c 65 20 61  create table a
02  dictionary of 2 terms
01 01  their lengths
61 62  a b
02 1a 0f  sizes of header and dictionary: 13, and 8 less
01 20  size of the body: 16
05  the size tables take 5 bytes
""")

RESOLVED = _octets("""
01  version
81 80 e0 bb 9b b6 de f1 05  ts
03  resolved
01  no partition
01  no schema
01  no table
02 1a 19  sizes of header and dictionary: 13, and 13 less
01 00  size of the body: 0
05  the size tables take 5 bytes
""")

TWO_ROWS = _octets("""
01  version
64 03  commit-ts 100, and 3 more
01 01  two row changes
01 10  no partition, then 8 more: partition 7
00 00  schema: term 0, the same
02 02  tables: term 1, then term 2
01 02 06 02 03 0f 0b 40  insert: new values of 2 columns, terms 3 and 4, types and flags
02 02  lengths 1 and 1
02 78  1, x
01 02 06 02 03 0f 0b 40  update: new values
02 01  lengths 1 and NULL
03  -2
02 02 06 02 03 0f 0b 40  old values
02 00  lengths 1 and 0
03  -2
05 01 01 01 02 01 61 62 63 69 64 76  dictionary: a b c id v
02 14 04  sizes of header and dictionary: 10 and 12
02 18 14  sizes of the bodies: 12 and 22
01 18  group of the insert: 12
02 16 00  groups of the update: 11 and 11
0b  the size tables take 11 bytes
""")
