"""Messages to decoded events, as DataFrames."""
