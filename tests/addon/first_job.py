"""The beginning of a task, which reads the scene in several steps of Blender's own."""


def first_job(part, steps):
    """The first job of a task that is for the compute process."""
    worker, job = part("blender.compute_process"), next(steps)
    while isinstance(job, worker.Drawn):
        job = worker.advance(steps, job)
    return job
