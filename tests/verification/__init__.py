"""Verification: do we solve the equations right?

Every quantitative claim of the project is a small function that returns a measured figure, declared with its bound,
unit and source (see `claim.py`). `python -m tests.verification --out FOLDER` runs them all; the tests call the same
functions. To add claims, write a module `claims_<subject>.py`.
"""
