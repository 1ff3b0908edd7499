"""The unique keys of large frames: no two rows may have one at a time."""
