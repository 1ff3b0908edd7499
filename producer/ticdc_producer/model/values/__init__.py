"""Values of SQL: their conversion to the canonical values of columns, their texts, order and equality."""
