"""F-curves as arrays: values, slopes, reduction."""

from ..blender import lazy

lazy.package(__name__)
