"""What is true of a premise and a hypothesis."""
