"""Previews of small scenarios, and the processes that make them."""
