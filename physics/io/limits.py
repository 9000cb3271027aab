"""Limits of all readers; a larger file is refused before anything is allocated for it.

Real models, motions and surfaces have a hundredth of these. Within them time and memory are bounded, too, except for a
result, whose arrays have the sizes that its model and its samples need; ``tests/fuzz`` measures both.
"""

MIB = 2**20

#: bytes of a file, by what it is
BYTES = {
    "a model": 32 * MIB,
    "a result": 8192 * MIB,
    "an OpenSim model": 32 * MIB,
    "a table": 64 * MIB,
    "a surface": 32 * MIB,
    "a list of jobs": 4 * MIB,
}
HEADER_BYTES = 4 * BYTES["a model"]  # of a result: numpy stores a character as four bytes
UNPACKED_BYTES = 512 * MIB  # of the compressed arrays of a result
PIECE = MIB  # bytes of a file or an archive to go through at a time; most of an archive's list of entries
ENTRIES = 10_000  # bodies of a model; likewise springs, forces, muscles ...; jobs
ELEMENTS = 500_000  # of an XML file
COLUMNS = 100_000  # of a table
NESTING = 100  # lists and objects in each other
XML_NESTING = 200
SECONDS = 10  # of the processor to read a file
MEMORY_BYTES = 1024 * MIB  # to read a file
