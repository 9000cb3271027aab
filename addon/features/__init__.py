"""One folder a feature: its properties, operators and panels, each with an explicit `classes` tuple."""
