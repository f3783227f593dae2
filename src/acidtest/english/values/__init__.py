"""Values in a text: numbers, measures, dates, names and where they are mentioned."""
