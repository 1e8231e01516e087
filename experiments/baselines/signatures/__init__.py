"""Signatures of the baselines: what other methods ask an LM, in this project's words."""
