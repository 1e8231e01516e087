"""What a run leaves for people: table.md, plots/ and one self-contained report.html.

``write.write_reports`` writes them all; the rest is pure, from records to text.
"""
