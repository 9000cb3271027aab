"""The builder, the immutable model, its states and results."""
