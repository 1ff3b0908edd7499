"""The golden folder: writing and reading it; reading validates everything."""
