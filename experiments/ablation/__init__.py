"""A grid of paired runs: one base, and cells that differ from it in what they name."""
