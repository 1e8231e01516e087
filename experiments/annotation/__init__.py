"""Blind human labels on frozen answers: sheets out, labels back in (paper, section 5)."""
