"""Tables that a consumer filled, compared with the state that a golden folder expects."""
