"""The page that shows a stream: its files, and its data as JSON."""
