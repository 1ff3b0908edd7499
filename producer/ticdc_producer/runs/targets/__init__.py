"""The targets of a run: topics, a golden folder, the files of a storage."""
