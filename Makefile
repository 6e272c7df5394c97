# Each target makes the environment it needs in .venv, once, and anew when pyproject.toml changes.
#   make demo    train on a small cluster and show what ran where     make lint    ruff and mypy
#   make test    every test (ARGS="-k name" for some)                 make bench   measure the speed against NumPy
#   PYTHON=/path/to/python3 chooses the interpreter (3.10 or later)

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test lint bench clean

demo: $(READY)
	@$(BIN)/python -m minitf demo $(ARGS)

test: $(READY)
	@$(BIN)/python -m pytest -q $(ARGS)

lint: $(READY)
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .
	@$(BIN)/python -m mypy

bench: $(READY)
	@$(BIN)/python -m tools.bench $(ARGS)

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(READY): pyproject.toml tools/make_venv.sh
	@sh tools/make_venv.sh "$(PYTHON)" .venv
	@touch $@
