"""Rules about shared state and activity patches."""
