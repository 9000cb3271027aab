"""Agreement with other engines, in the environment that has them (`pytest -m peers`)."""
