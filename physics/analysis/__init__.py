"""Evaluation of models and results: plots, drawings, muscle lengths and rankings."""
