"""Panel, menus and operators of chains: what swings after its animation."""
