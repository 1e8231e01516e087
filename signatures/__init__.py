"""The typed contracts: pydantic models and DSPy Signatures, one file a role, its card included.

Nothing here imports another part of StateAuditor. ``models`` and ``errors`` do
not import DSPy either, so that ``import stateauditor`` stays fast.
"""
