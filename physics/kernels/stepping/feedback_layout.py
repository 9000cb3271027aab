"""Offsets in the array of feedback laws, one row a law; points are in link frames.

OF is the column of forces and inputs that a law changes; BODY and OTHER are -1 for none and the world, GATE, the body
whose load on compliant ground counts, for none; WHOLE is the mass of all bodies.
"""

OF, GAIN, LEVEL, SIGNAL, RATE, COORDINATE, BODY, POINT = range(8)
OTHER, OTHER_POINT, DIRECTION, GATE, LOAD, WHOLE, WIDTH = 10, 11, 14, 17, 18, 19, 20
#: signals: of a coordinate, of a point of a body, of the mass centre of all bodies, and how much a body is loaded
COORDINATE_SIGNAL, POINT_SIGNAL, CENTER_SIGNAL, TOUCH_SIGNAL = 0, 1, 2, 3
