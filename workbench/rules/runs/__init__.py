"""Rules about runs: start, end, ids, errors."""
