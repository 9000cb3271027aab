"""Files written over earlier ones on a disk that is full after some bytes. Needs bpy and the registered add-on."""

import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import physics as ph
from tests.physics.small_models import alone

SHARES = (0.0, 0.1, 0.5, 0.9, 0.999)  # of a file that there is room for


def full_disk() -> dict[str, float]:
    """Number of files written, and the effects: earlier files that changed, files left over, faults untold."""
    from addon.batch.files import save

    model = alone("bob", ph.joints.Hinge(), com=(0, 0, -1)).build()
    result = ph.simulate(model, model.state([0.5]), 1.0, 1e-2)
    found = {"written": 0, "changed": 0, "left over": 0, "untold": 0}
    told: list[str] = []
    reporter = SimpleNamespace(error=told.append, message=lambda _: None)

    def blend(path: Path) -> None:
        told.clear()
        save(path, reporter)
        if told:
            raise OSError(told[0])

    kinds: dict[str, Callable[[Path], object]] = {
        "model": lambda path: ph.save_model(model, path),
        "result": lambda path: ph.save_result(result, path),
        "table": lambda path: ph.write_storage(path, result.t, {"angle": result.q[:, 0]}),
        "shot.blend": blend,
    }
    with tempfile.TemporaryDirectory(prefix="condyle-full-") as folder:
        for name, write in kinds.items():
            path = Path(folder, name)
            write(path)
            before = path.read_bytes()
            for share in SHARES:
                found["written"] += 1
                found["untold"] += not _refused(write, path, int(share * len(before)))
                found["changed"] += path.read_bytes() != before
            path.unlink()
            found["left over"] += len(list(Path(folder).iterdir()))
    return found


def _refused(write: Callable[[Path], object], path: Path, room: int) -> bool:
    """Whether writing says that it failed where a file may have this many bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))  # Python turns its signal into an OSError
    try:
        write(path)
    except (OSError, ph.CondyleError):
        return True
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    return False
