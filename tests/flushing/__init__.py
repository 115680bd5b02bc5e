"""An application of the tests alone: it empties the tables after tests that commit."""
