"""Other methods under the arms' conditions: same drafts, readout, judge and accounting.

Each is a DSPy module that gets a draft and returns a reply; whatever breaks in it, the
draft stands. Paper, sections 5 and 6.2.
"""
