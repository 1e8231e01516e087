"""Retrieval measured alone, with no LM."""
