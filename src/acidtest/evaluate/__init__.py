"""Asking a model: the plan, the journal of answers, the runner, and the engines it runs on."""
