"""Films show all that the pictures show."""

import bpy
import pytest

from blender_scenes import picture


def test_a_film_is_as_high_as_a_picture(monkeypatch, tmp_path):
    seen, shot = [], picture.Shot((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 5.2)

    def stop():
        raise KeyboardInterrupt

    monkeypatch.setattr(picture, "aim", lambda _, each: seen.append(each.width))
    monkeypatch.setattr(picture, "silence", stop)  # which is about the render itself
    with pytest.raises(KeyboardInterrupt):
        picture.film(bpy.data.scenes.new("Film"), [shot], tmp_path / "film.mp4")
    width, height = picture.FILM_PIXELS
    # round-off
    assert (
        seen
        and max(abs(each * height / width - shot.width * shot.pixels[1] / shot.pixels[0]) for each in seen)
        < 1e-12
    )
