"""Public op functions, one file per domain. Ops without a rule of their own come from raw.py."""
