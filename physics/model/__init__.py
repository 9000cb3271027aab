"""The builder, the immutable model, checks of its states, and results."""
