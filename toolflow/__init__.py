"""toolflow."""
