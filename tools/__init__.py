"""Programs for the developers of this project; the wheel does not contain them."""
