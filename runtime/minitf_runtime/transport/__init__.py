"""How frames reach another process."""
