"""Keys: values of properties at frames, and the curves that hold them."""


def set_keys(item, path, values, axis=None):
    """Key a property at frames, {frame: value}; with an axis the values are those of one component."""
    for frame, value in values.items():
        if path.startswith("["):
            item[path[2:-2]] = value
        elif axis is None:
            setattr(item, path, value)
        else:
            getattr(item, path)[axis] = value
        item.keyframe_insert(path, frame=frame)


def key_slider(joint, values, interpolation=None):
    """Key a joint's only slider; the interpolation is that of all curves of its action."""
    set_keys(joint, '["coordinate"]', values)
    if interpolation:
        make_keys(joint, interpolation)


def make_keys(item, interpolation):
    """Give all keys of an item's action an interpolation; returns its curves."""
    curves = curves_of(item.animation_data)
    for curve in curves:
        for point in curve.keyframe_points:
            point.interpolation = interpolation
    return curves


def curves_of(user):
    """Curves of the action that animation data or a strip plays, in any version of Blender."""
    if hasattr(user.action, "fcurves"):
        return user.action.fcurves
    return user.action.layers[0].strips[0].channelbags[0].fcurves
