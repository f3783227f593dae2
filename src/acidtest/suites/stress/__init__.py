"""Stress tests: competence, distraction and noise (Naik et al. 2018), on any corpus."""
