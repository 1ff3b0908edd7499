"""The state of the simulated TiDB: tables, rows, ids, transactions and the history of commits."""
