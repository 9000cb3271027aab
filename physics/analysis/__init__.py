"""What is read out of models and results: plots, drawings, muscles' lengths and ranks."""
