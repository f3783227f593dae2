"""Word lists, templates, schemas and published results; PROVENANCE.md says where each comes from."""
