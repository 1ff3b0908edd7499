"""The commands' work: prepare a scenario, write its messages, read them again and verify them."""
