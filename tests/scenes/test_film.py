"""Films show all that the pictures show."""

from blender_scenes import picture


def test_a_film_is_as_high_as_a_picture():
    shot = picture.Shot((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 5.2)
    width, height = picture.FILM_PIXELS
    high = shot.width * picture.wider(shot) * height / width
    assert abs(high - shot.width * shot.pixels[1] / shot.pixels[0]) < 1e-12  # round-off
