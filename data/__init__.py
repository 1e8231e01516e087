"""Benchmark loaders, the scenario model, bundled slices and frozen id lists."""
