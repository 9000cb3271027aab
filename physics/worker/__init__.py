"""The compute process: a child of Blender that fits and simulates, so that the window never waits.

The parent uses ``client``, which imports numpy only, and ``requests``, its typed interface. The child runs the script
``main``. ``protocol`` defines their messages, ``jobs`` the kinds of job.
"""
