"""OpenSim's tables: read and written without loss, refused where they are not whole."""

from pathlib import Path

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import body, coordinate, joint, write

MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
TABLE = "walk\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\ntime\tknee\tslide\n0\t90\t1\n0.5\t-30\t2\n"


def stored(tmp_path, text):
    path = tmp_path / "table.mot"
    path.write_text(text)
    return path


def test_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    times = np.sort(rng.random(20))
    columns = {"a b": rng.normal(size=20), "c/d|e": rng.normal(size=20) * 1e-300}
    ph.write_storage(tmp_path / "x.sto", times, columns, in_degrees=True)
    read = ph.read_storage(tmp_path / "x.sto")
    assert read.in_degrees and read.name == "x" and list(read.columns) == list(columns)
    assert np.array_equal(read.times, times)
    assert all(np.array_equal(read.columns[name], column) for name, column in columns.items())


def test_header_of_simm(tmp_path):
    text = "name walk\ndatacolumns 2\ndatarows 2\nrange 0 1\nendheader\n\ntime knee\n0 1\n1 2\n"
    read = ph.read_storage(stored(tmp_path, text))
    assert read.name == "walk" and not read.in_degrees and read.columns["knee"].tolist() == [1.0, 2.0]
    assert read.header == {"range": "0 1"}


def test_degrees_become_radians_for_angles_alone(tmp_path):
    made = joint("PinJoint", "a", "/ground", "one", coordinate("knee"))
    made += joint("SliderJoint", "b", "one", "two", coordinate("slide"))
    model_read = ph.read_opensim(write(tmp_path / "m.osim", body("one") + body("two"), made))
    table = ph.read_storage(stored(tmp_path, TABLE))
    times, q = ph.motion_samples(model_read, model_read.build(), table)
    assert times.tolist() == [0.0, 0.5]
    assert np.allclose(q, [[np.pi / 2, 1.0], [-np.pi / 6, 2.0]], atol=1e-15)
    # files of states name values by their paths
    states = TABLE.replace("knee\tslide", "/jointset/a/knee/value\t/jointset/b/slide/value")
    named = ph.motion_samples(model_read, model_read.build(), ph.read_storage(stored(tmp_path, states)))
    assert np.array_equal(named[1], q)
    legacy = TABLE.replace("=yes", "=y").replace("knee\tslide", "knee slide")  # as OpenSim reads them
    assert np.array_equal(
        ph.motion_samples(model_read, model_read.build(), ph.read_storage(stored(tmp_path, legacy)))[1], q
    )


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("endheader\n", "", "endheader"),
        ("\t-30\t2\n", "\t-30\n", "line 9 must have 3 numbers"),
        ("\t-30\t2\n", "\t-30\tx\n", "line 9 must be numbers"),
        ("time\tknee", "when\tknee", "first column"),
        ("0.5\t-30", "-0.5\t-30", "time must increase"),
        ("0.5\t-30", "nan\t-30", "time must be finite"),
        ("inDegrees=yes", "inDegrees=perhaps", "inDegrees"),
        ("time\tknee\tslide\n0\t90\t1\n0.5\t-30\t2\n", "", "after its header"),
    ],
)
def test_tables_that_are_refused(tmp_path, old, new, told):
    with pytest.raises(ph.FormatError, match=told):
        ph.read_storage(stored(tmp_path, TABLE.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "told", "name"),
    [
        ("nRows=2", "nRows=3", "3 rows, but there are 2", "slide"),
        ("nColumns=3", "nColumns=4", "4 columns, but there are 3", "slide"),
        ("0.5\t-30\t2\n", "0.5\t-30\t2\n" * 3, "2 rows repeat", "slide"),
        ("knee\tslide", "knee\tknee", "'knee' is there again", "knee (2)"),
    ],
)
def test_tables_that_are_mended(tmp_path, old, new, told, name):
    with pytest.warns(UserWarning, match=told):
        read = ph.read_storage(stored(tmp_path, TABLE.replace(old, new)))
    assert read.columns["knee"].tolist() == [90.0, -30.0] and read.columns[name].tolist() == [1.0, 2.0]


def test_vectors_and_quaternions_become_columns(tmp_path):
    """OpenSim 4.6's TimeSeriesTable.flatten names them _1, _2 ...; empty cells between names are no columns."""
    text = "DataType=Quaternion\nversion=3\nendheader\ntime\t\ttorso\thead\n0\t1,0,0,0\t0,1,0,0\n1\t0,0,1,0\t0,0,0,1\n"
    read = ph.read_storage(stored(tmp_path, text))
    assert list(read.columns) == [f"{name}_{k}" for name in ("torso", "head") for k in range(1, 5)]
    assert read.columns["torso_3"].tolist() == [0.0, 1.0] and read.header["datatype"] == "Quaternion"


@pytest.mark.parametrize(
    ("times", "columns"),
    [
        ([0.0, 0.0], {"a": [1.0, 2.0]}),
        ([0.0, 1.0], {"a": [1.0]}),
        ([0.0, 1.0], {"a\tb": [1.0, 2.0]}),
        ([0.0, 1.0], {"time": [1.0, 2.0]}),
        ([0.0, 1.0], {"a": [1.0, np.nan]}),
    ],
)
def test_what_cannot_be_written(tmp_path, times, columns):
    with pytest.raises(ph.ModelError):
        ph.write_storage(tmp_path / "x.sto", times, columns)
    assert not (tmp_path / "x.sto").exists()


@pytest.mark.parametrize("name", ["endheader", " EndHeader ", "n=3", "nRows = 7", "range 0", " walk"])
def test_a_name_that_is_not_read_back_is_refused(tmp_path, name):
    path = tmp_path / "x.sto"
    with pytest.raises(ph.ModelError, match="a table cannot be named"):
        ph.write_storage(path, [0.0, 1.0], {"a": [1.0, 2.0]}, name=name)
    ph.write_storage(path, [0.0, 1.0], {"a": [1.0, 2.0]}, name="slow walk 3")
    assert ph.read_storage(path).name == "slow walk 3"


@pytest.mark.parametrize("file", ["endheader.sto", "n=3.sto"])
def test_a_file_whose_own_name_is_no_name_of_a_table_is_read_back(tmp_path, file):
    ph.write_storage(tmp_path / file, [0.0, 1.0], {"a": [1.0, 2.0]})
    read = ph.read_storage(tmp_path / file)
    assert read.name == "table" and not read.header.keys() - {"version"}


@pytest.mark.skipif(not MODELS.is_dir(), reason="the folder of motions is not beside this checkout")
def test_motions_of_others():
    walk = ph.read_storage(MODELS / "subject01_walk_IK.mot")
    assert walk.in_degrees and "knee_angle_r" in walk.columns and len(walk.times) > 50
    plates = ph.read_storage(MODELS / "subject01_walk_grf.mot")
    assert "ground_force_vy" in plates.columns
