"""Rules about timestamps."""
