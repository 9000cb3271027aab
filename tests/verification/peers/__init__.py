"""Agreement with other engines, in the environment that has them (`pytest -m peers`)."""


def quiet_opensim() -> None:
    """OpenSim tells errors alone, and leaves no opensim.log in the folder that is worked in."""
    import opensim

    opensim.Logger.setLevelString("error")
    opensim.Logger.removeFileSink()
