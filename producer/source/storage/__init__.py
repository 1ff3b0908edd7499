"""A folder that a storage sink wrote, read in the order in which its rows are replayed."""
