"""Compares the tables that a consumer wrote with the state that a golden folder expects."""
