"""Statistics on arrays: intervals, tests, contingency tables, regression, agreement, power."""
