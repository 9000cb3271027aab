"""The Flamenco job type of the docs, with a stand-in for Flamenco's author, gives one command a part."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from addon.batch.command_line import parser

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "flamenco_condyle_batch.js"
NODE = shutil.which("node") or shutil.which("nodejs")
#: what the Manager gives a script: author.Task, author.Command, job.addTask and task.addCommand
STAND_IN = """
const author = {
    Task: (name, type) => ({name, type, commands: [], addCommand(c) { this.commands.push(c); }}),
    Command: (name, parameters) => ({name, parameters}),
};
const tasks = [], settings = Object.assign({}, ...JOB_TYPE.settings.map(s => ({[s.key]: s.default})), GIVEN);
let problem = null;
try { compileJob({settings, addTask: task => tasks.push(task)}); } catch (error) { problem = String(error); }
console.log(JSON.stringify({tasks, problem}));
"""

pytestmark = pytest.mark.skipif(NODE is None, reason="no JavaScript engine (node) to run the job type")


def compile_job(given):
    program = SCRIPT.read_text("utf-8") + STAND_IN.replace("GIVEN", json.dumps(given))
    ran = subprocess.run([str(NODE), "-e", program], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


@pytest.mark.parametrize("overwrite", [False, True])
def test_one_task_for_each_part(overwrite):
    tasks = compile_job({"jobs": "/shots/my jobs.toml", "parts": 3, "overwrite": overwrite})["tasks"]
    assert [task["name"] for task in tasks] == ["bake-1-of-3", "bake-2-of-3", "bake-3-of-3"]
    assert {task["type"] for task in tasks} == {"blender"}
    for part, task in enumerate(tasks, 1):
        (command,) = task["commands"]
        assert command["name"] == "exec" and command["parameters"]["exe"] == "{blender}"
        assert command["parameters"]["args"][:2] == ["--command", "condyle"]
        read = parser().parse_args(command["parameters"]["args"][2:])
        assert (read.command, str(read.source), read.at_once) == ("batch", "/shots/my jobs.toml", 1)
        assert (read.split, read.overwrite) == (f"{part}/3", overwrite)


@pytest.mark.parametrize("given", [{"parts": 3}, {"jobs": "/shots/jobs.toml", "parts": 0}])
def test_settings_that_make_no_job(given):
    result = compile_job(given)
    assert result["problem"] and not result["tasks"]
