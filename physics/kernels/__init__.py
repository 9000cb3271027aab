"""The jitted code: the only place with loops over bodies. Everything here works on the flat arrays of `layout`."""
