"""The first minute: three doors while the scene has nothing of Condyle."""
