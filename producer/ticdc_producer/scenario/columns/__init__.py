"""Rules on Arrow columns of one table: canonical values of typed ones, and the keys of rows."""
