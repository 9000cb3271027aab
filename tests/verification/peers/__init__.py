"""Agreement with other engines, in the environment of the peers (`pytest -m peers`)."""


def quiet_opensim() -> None:
    """Make OpenSim print errors only, and write no opensim.log into the current folder."""
    import opensim

    opensim.Logger.setLevelString("error")
    opensim.Logger.removeFileSink()
