"""Rules about the steps of a run."""
