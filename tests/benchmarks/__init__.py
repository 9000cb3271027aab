"""Speed: ratios of times measured alternately in one process, so that they are comparable between machines."""
