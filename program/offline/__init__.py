"""The ``offline`` backend: every Signature answered by lexical rules, with no model.

A floor, and labelled so in every output. ``offline_adapter`` is the boundary to DSPy;
everything else is plain functions over text: ``words`` and ``patterns`` (how the
lexicon is matched), ``lexicon`` (the YAML files), ``statements`` (is this a
present statement of the user's own state?), ``mentions``, ``changes`` (which line
ends which), ``dependency`` (does the reply rest on the old side?), ``premises``,
``rewriting`` and ``answers``.
"""
