"""Pages of the chat, by what they are about."""
