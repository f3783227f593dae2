"""The measures of a training set's audit, each gathered batch by batch."""
