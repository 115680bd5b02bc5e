"""What the pages of chat show, made from rows: no HTTP here, no HTML of its own."""
