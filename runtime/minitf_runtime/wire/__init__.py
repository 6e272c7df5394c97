"""What processes say to each other: messages.py says what, codec.py how."""
