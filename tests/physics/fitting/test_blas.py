"""Threads of BLAS while a fit runs."""

import numpy as np
import pytest

import physics as ph
from physics.fitting import blas

pytest.importorskip("scipy")


def threads():
    return [get() for get, _ in blas._switches()]


def test_fits_and_modes_use_one_thread_and_put_back_what_was_before(monkeypatch):
    before = threads()
    if not before:
        pytest.skip("NumPy and SciPy do not use an OpenBLAS of their own")
    seen = []
    rng = np.random.default_rng(0)
    q = rng.uniform(-1.0, 1.0, (60, 2))
    poses = np.broadcast_to(np.eye(4), (60, 4, 4)).copy()
    poses[:, :2, 3] = q

    def look(done, text):
        seen.append(threads())
        with blas.one_blas_thread():
            return True

    try:
        for _, put in blas._switches():
            put(2)
        expected = threads()  # fewer where a library has no more
        ph.fitting.fit_surface(poses, q, 4, progress=look)
        factor, many = np.linalg.cholesky, len(seen)
        monkeypatch.setattr(np.linalg, "cholesky", lambda a: (seen.append(threads()), factor(a))[1])
        values = np.outer(np.arange(9.0), [0, 0, 0, 1, 0, 0])
        builder, joint = ph.ModelBuilder(), ph.joints.FlexibleSurface(ph.joints.SplineSurface(values))
        builder.add_body("bead", joint=joint, mass=1.0, inertia=np.eye(3))
        builder.add_flexible_surface("wire", ["bead"], density=1.0, tension=1.0)
        builder.build()
        assert 0 < many < len(seen) and all(count == 1 for each in seen for count in each)
        assert threads() == expected
        with pytest.raises(ph.FitError):
            ph.fitting.fit_surface(poses[:, :3], q, 4)
        assert threads() == expected
    finally:
        for (_, put), count in zip(blas._switches(), before, strict=True):
            put(count)
