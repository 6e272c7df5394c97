"""What a command raises when the user can put it right: shown as one line, without a traceback."""

from __future__ import annotations

import argparse
from typing import NoReturn


class UserError(Exception):
    """Wrong input: the text says what was wrong and what is right. Exit status 2."""


class Parser(argparse.ArgumentParser):
    """Reports wrong arguments as a UserError instead of usage text."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message} (see {self.prog} --help)")
