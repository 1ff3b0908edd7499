"""Compares a checkout of pingcap/ticdc with the tables of this project (CONTRIBUTING.md)."""
