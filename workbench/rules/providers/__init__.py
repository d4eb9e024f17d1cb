"""What model providers would say, and what they said."""
