"""Reports of a verdict: text, JUnit XML for CI systems, and an HTML page."""
