"""Repairs cubins for nvdisasm.

ptxas 13.0 gives a function that never returns, and that stands last in its section, a size below zero. nvdisasm refuses the
whole file then, though it needs no size: a label is where the symbol is."""
import struct

SYMBOL_TABLE = 2
SYMBOL_BYTES = 24  # Elf64_Sym: name, info, other, section, value, size
SIZE_AT = 16


def repair_symbol_sizes(path):
    data = bytearray(path.read_bytes())
    for offset, size in symbol_tables(data):
        for at in range(offset, offset + size, SYMBOL_BYTES):
            if struct.unpack_from("<q", data, at + SIZE_AT)[0] < 0:
                struct.pack_into("<Q", data, at + SIZE_AT, 0)
    path.write_bytes(data)


def symbol_tables(data):
    """(offset, bytes) in the file, by the section headers of an ELF64 file."""
    table, = struct.unpack_from("<Q", data, 0x28)
    entry_bytes, entries = struct.unpack_from("<HH", data, 0x3a)
    for i in range(entries):
        kind, = struct.unpack_from("<I", data, table + i * entry_bytes + 4)
        offset, size = struct.unpack_from("<QQ", data, table + i * entry_bytes + 0x18)
        if kind == SYMBOL_TABLE:
            yield offset, size
