"""Functions that declare what operators ask for, as those of `data.properties` declare what is stored.

Nothing of an operator is in a library, so that nothing is overridden.
"""

from functools import partial

from ..data import properties

flag = partial(properties.flag, override=set())
integer = partial(properties.integer, override=set())
text = partial(properties.text, override=set())
choice = partial(properties.choice, override=set())
number = partial(properties.number, override=set())
vector = partial(properties.vector, override=set())
length = partial(properties.length, override=set())
angle = partial(properties.angle, override=set())
factor = partial(properties.factor, override=set())
seconds = partial(properties.seconds, override=set())
