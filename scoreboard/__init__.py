"""What consumers of other projects make of the corpus, of legal traps and of random histories."""
