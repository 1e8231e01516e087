"""Runs the suites: injection at the gate, and audits of items with deterministic keys."""
