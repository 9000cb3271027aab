"""The batch: what a job file, a folder and a setting of the command line may say."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def jobs(folder):
    """Write a job file beside the inputs."""

    def write(text, head='format = "condyle-jobs"\nversion = 1\n'):
        path = folder / "jobs.toml"
        path.write_text(head + text, "utf-8")
        return path

    return write


def read(part, path, **given):
    return part("batch.job_file").read(path, given, None, False)


def test_a_job_file_is_read_with_its_defaults(part, jobs, folder):
    path = jobs("""
        defaults = { out = "baked", timeout = 60, simulation = { time_step = 0.001, integrator = "rk4" } }
        [[jobs]]
        input = "a.blend"
        [[jobs]]
        name = "second"
        input = "Knie größer.blend"
        out = "other/second.blend"
        frames = [1, 20]
        simulation.time_step = 0.002
        joints."Knee.L".coordinates.1.damping = 0.5
    """)
    first, second = read(part, path)
    assert (first.name, first.target, first.frames) == ("a", folder / "baked/a.blend", None)
    assert first.timeout == 60 and first.settings["simulation"]["integrator"] == "rk4"
    assert (second.name, second.target, second.frames) == ("second", folder / "other/second.blend", (1, 20))
    assert second.settings["simulation"] == {"time_step": 0.002, "integrator": "rk4"}
    assert [each.address for each in part("batch.settings_overrides").flatten(second.settings)][-1] == (
        'joints."Knee.L".coordinates.1.damping'
    )


def test_a_folder_of_the_command_line_takes_all_outputs(part, ph, jobs, folder):
    absolute = json.dumps(str(folder / "far/third.blend"), ensure_ascii=False)
    text = f"""
        defaults.out = "baked"
        [[jobs]]
        input = "a.blend"
        [[jobs]]
        input = "b.blend"
        out = "baked/second.blend"
        [[jobs]]
        input = "b.blend"
        out = "./moon"
        [[jobs]]
        input = "b.blend"
        out = {absolute}
        [[jobs]]
        input = "b.blend"
        out = "../beside/fourth.blend"
    """
    path, out = jobs(text), folder / "elsewhere"
    inside = ["a.blend", "baked/second.blend", "moon/b.blend", "third.blend", "fourth.blend"]
    shots = part("batch.job_file").read(path, {}, out, False)
    assert [shot.target for shot in shots] == [out / name for name in inside]
    assert read(part, path)[1].target == folder / "baked/second.blend"
    jobs(text + '[[jobs]]\ninput = "b.blend"\nout = "third.blend"')
    with pytest.raises(ph.FormatError, match=r"two jobs have the same output .*elsewhere.*third.blend"):
        part("batch.job_file").read(path, {}, out, False)


A = '[[jobs]]\ninput = "a.blend"\nout = "out"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"no \[\[jobs\]\]"),
        ("jobs = 3", r"no \[\[jobs\]\]"),
        (A + "sceen = 'Leg'", r"job 1: unknown key 'sceen' = 'Leg' \(did you mean 'scene'\?\)"),
        ('defaults.imput = "x"\n' + A, "defaults: unknown key 'imput' = 'x'"),
        (A + "frames = [20, 1]", r"frames = \[20, 1\]: must be the first and last"),
        (A + "frames = [1.5, 2]", "frames"),
        (
            A + "frames = [1, 99999999999]",
            r"job 1: frames = \[1, 99999999999\]: frame 99999999999: must be from -1048574 to 1048574",
        ),
        (A + "frames = [-1048575, 1]", "frame -1048575: must be from -1048574"),
        (A + "timeout = -1", "timeout = -1: must be a number of seconds above 0"),
        (A + "timeout = true", "timeout = True"),
        (A + "simulation = 3", "simulation = 3: must be a table"),
        (A + "scene = 3", "scene = 3: must be a text"),
        ('[[jobs]]\ninput = "nowhere.blend"\nout = "out"', "no such file: .*nowhere.blend"),
        ('[[jobs]]\nout = "out"', "job 1: has no input"),
        ('[[jobs]]\ninput = "a.blend"', "has no out, and neither have the defaults"),
        (A + A, "two jobs have the same output .*a.blend: 'a' and 'a'"),
        (A.replace("input", 'name = "a\\nb"\ninput'), r"job 1 .*: name = 'a\\nb': must be one line"),
        (
            f'[[jobs]]\ninput = "a.blend"\nout = "{240 * "n"}.blend"',
            "a: the output's name has 240 bytes before .blend, more than the 215",
        ),
        (A + '[[jobs]]\ninput = "b.blend"\nout = "a.blend"', "'b' would overwrite .*a.blend, the input of 'a'"),
        (A + "x = ", "not TOML: Invalid value"),
        (A + "x = " + 9999 * "[", "not TOML: its values nest too deep"),
        (A + "extras = " + 30 * "[" + 30 * "]", "not TOML: its values nest too deep"),
        (A + "extras" + 9999 * ".x" + " = 1", "not TOML: "),
        (A + "timeout = " + 9999 * "9", "not TOML: "),
        (A + "timeout = 0x" + 9999 * "f", "not TOML: an integer has more than 64 bits"),
        (A + f"scene = [{99999 * '1,'}]", r"scene = \[1, 1, .{500,900} \.\.\. .*must be a text"),
        ('[[jobs]]\ninput = "a\\u0000.blend"\nout = "out"', r"input = 'a.{1,4}.blend': must be a text"),
        ('[[jobs]]\ninput = "a.blend"\nout = "o\\u0000t"', r"out = 'o.{1,4}t': must be a text"),
        (f'[[jobs]]\ninput = "{999 * "n"}.blend"\nout = "out"', "no such file"),
        (f'[[jobs]]\ninput = "a.blend"\nout = "{999 * "n"}/a.blend"', "folder's name has more than 255 bytes"),
        (10001 * A, "has 10001 jobs, more than 10000"),
        (A + "# " + 2**22 * "x", "more than the 4194304 that a list of jobs may have"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_job_file_is_named(part, ph, jobs, text, message):
    with pytest.raises(ph.FormatError, match=message):
        read(part, jobs(text))


def test_a_job_file_says_what_it_is(part, ph, jobs, folder):
    with pytest.raises(ph.FormatError, match="must have format"):
        read(part, jobs(A, head=""))
    (folder / "jobs.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ph.FormatError, match="not a text file"):
        read(part, folder / "jobs.toml")


def test_a_folder_gives_its_files_and_those_of_its_folders_where_asked(part, ph, folder):
    (folder / "deep").mkdir()
    (folder / "deep/c.blend").touch()
    (folder / "out").mkdir()
    (folder / "out/old.blend").touch()
    (folder / ".hidden.blend").touch()
    (folder / "a.blend1").touch()
    shots = part("batch.job_file").read(folder, {}, folder / "out", True)
    assert [shot.name for shot in shots] == ["Knie größer", "a", "b", str(Path("deep/c"))]
    assert shots[-1].target == folder / "out/deep/c.blend"
    assert len(part("batch.job_file").read(folder, {}, folder / "out", False)) == 3
    with pytest.raises(ph.FormatError, match="outputs with --out"):
        part("batch.job_file").read(folder, {}, None, False)
    with pytest.raises(ph.FormatError, match="would overwrite"):
        part("batch.job_file").read(folder, {}, folder, False)
    assert part("batch.job_file").read(folder / "out", {}, folder, False)[0].target == folder / "old.blend"
    (folder / "empty").mkdir()
    with pytest.raises(ph.FormatError, match=r"no \.blend file"):
        part("batch.job_file").read(folder / "empty", {}, folder, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("simulation.time_step=0.002", {"simulation": {"time_step": 0.002}}),
        ("simulation.integrator=rk4", {"simulation": {"integrator": "rk4"}}),
        ('joints."Knee.L".prescribed = true', {"joints": {"Knee.L": {"prescribed": True}}}),
        ("simulation.gravity=[0, 0, -1.6]", {"simulation": {"gravity": [0, 0, -1.6]}}),
    ],
)
def test_a_setting_of_a_command_line(part, text, expected):
    assert part("batch.job_file").parse_setting(text) == expected


def test_a_setting_that_is_none(part, ph):
    for text in ("time_step", "a b=1"):
        with pytest.raises(ph.FormatError, match="--set"):
            part("batch.job_file").parse_setting(text)
