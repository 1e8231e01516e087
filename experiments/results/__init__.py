"""What follows from the records of runs: summaries, comparisons, other judges, tracking."""
