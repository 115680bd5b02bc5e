"""One module per kind of model server, imported on first use."""
