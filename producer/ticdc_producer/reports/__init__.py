"""A verdict as people and their tools read it: JUnit XML for a CI system, one HTML page for everybody."""
