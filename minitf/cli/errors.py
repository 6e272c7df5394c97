"""What a command raises when the user can put it right: shown as one line, without a traceback."""

from __future__ import annotations


class UserError(Exception):
    """Wrong input: the text says what was wrong and what is right. Exit status 2."""
