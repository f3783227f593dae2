"""acidtest finds out whether a natural-language-inference model reasons or cheats."""
