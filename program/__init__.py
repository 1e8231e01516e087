"""The pipeline: memory, retrieval, roles, validator, arbiter, auditor, backends."""
