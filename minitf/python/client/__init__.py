"""See minitf/python."""
