"""Gradients of simulated motions by what decides them, and searches along these."""
