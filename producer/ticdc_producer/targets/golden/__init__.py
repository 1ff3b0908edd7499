"""The golden folder: writing it, and reading it without trusting it."""
