"""What changed, told apart: steps of one attribute as one change, and what stands or has ended."""
