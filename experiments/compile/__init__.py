"""Compiling prompts: DSPy's optimizers on a committed development slice, and nothing else.

``spec`` is the config, ``parts`` the guarded ids and their split, ``student`` the
program as optimizers see it, ``board`` the candidates with their scores, and
``compiler`` puts them together into one folder (``folder``).
"""
