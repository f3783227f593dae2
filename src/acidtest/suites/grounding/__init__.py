"""Long premises, as grounding and retrieval meet them."""
