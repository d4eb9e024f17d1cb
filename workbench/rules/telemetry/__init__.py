"""Rules about spans: what is missing from them, and what they record wrongly."""
