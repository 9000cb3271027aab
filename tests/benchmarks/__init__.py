"""Speed: ratios of times measured alternately in one process, so that they mean the same on any machine."""
