"""Suites with deterministic keys, built by committed generators from a seed; no judge.

What each can and cannot show is in docs/evaluation.md.
"""
