// Flamenco job type: bakes the shots of a Condyle job file, one task for each part. See batch.md.
// Copy this file into the folder "scripts" beside flamenco-manager.

const JOB_TYPE = {
    label: "Condyle Batch",
    description: "Bake the shots of a Condyle job file",
    settings: [
        { key: "jobs", type: "string", subtype: "file_path", required: true,
          description: "Job file (JOBS.toml) on storage that all workers share" },
        { key: "parts", type: "int32", default: 20, propargs: {min: 1, max: 10000},
          description: "Number of tasks that share the shots" },
        { key: "overwrite", type: "bool", default: false,
          description: "Bake finished shots again, and replace outputs that no batch made" },
        { key: "program", type: "string", default: "{blender}", visible: "web",
          description: "Blender with the extension Condyle" },
    ]
};

function compileJob(job) {
    const settings = job.settings;
    if (!settings.jobs) {
        throw "no job file: set jobs to a JOBS.toml";
    }
    if (!(settings.parts >= 1)) {
        throw `parts must be 1 or more, got ${settings.parts}`;
    }
    for (let part = 1; part <= settings.parts; part++) {
        // A task that runs again continues: finished shots stay.
        const task = author.Task(`bake-${part}-of-${settings.parts}`, "blender");
        task.addCommand(author.Command("exec", {
            exe: settings.program || "{blender}",
            args: [
                "--command", "condyle", "batch", settings.jobs,
                "--at-once", "1",
                "--split", `${part}/${settings.parts}`,
            ].concat(settings.overwrite ? ["--overwrite"] : []),
        }));
        job.addTask(task);
    }
}
