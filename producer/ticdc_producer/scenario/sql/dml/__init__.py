"""INSERT, REPLACE, UPDATE and DELETE: plans of statements, the rows they select, the values they assign."""
