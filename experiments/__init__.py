"""Runs on benchmarks: one frozen spec in, one folder out (DESIGN.md section 7)."""
