"""The papers' models: architectures, a trainer for them, and what runs those that were trained."""
