"""Heat in a plate that is cut into tiles, one a PE: chime-run -n 4 python -m chime.examples.halo --validate

Each step sends the tile's four edges to the neighbours' inboxes by put_signal, and waits for theirs. There are two inboxes, in turns: a neighbour sends
the edge of step k + 2 only after it has this tile's edge of step k + 1, which leaves after the inbox of step k was read.
"""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING, Any, Dict, Tuple

import numpy as np

import chime

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA = 0.2  # time step x conductivity / spacing^2: stable below 0.25
TOP, OTHERS = 100.0, 0.0  # temperatures around the plate
WAIT_S = 60

# Side: the neighbour's place in the grid, the tile's edge there, the halo that the neighbour's edge fills.
SIDES: Tuple[Tuple[Tuple[int, int], Any, Any], ...] = (
    ((-1, 0), np.s_[1, 1:-1], np.s_[0, 1:-1]),
    ((1, 0), np.s_[-2, 1:-1], np.s_[-1, 1:-1]),
    ((0, -1), np.s_[1:-1, 1], np.s_[1:-1, 0]),
    ((0, 1), np.s_[1:-1, -2], np.s_[1:-1, -1]),
)
OPPOSITE = (1, 0, 3, 2)


class Grid:
    """PEs in rows and columns, as square as their number allows; and the part of a plate that each has."""

    def __init__(self, n_pes: int, size: int) -> None:
        self.rows = max(rows for rows in range(1, math.isqrt(n_pes) + 1) if n_pes % rows == 0)
        self.columns = n_pes // self.rows
        self.size = size

    def place(self, pe: int) -> Tuple[int, int]:
        return divmod(pe, self.columns)

    def part(self, pe: int) -> Tuple[slice, slice]:
        row, column = self.place(pe)
        return self.cut(row, self.rows), self.cut(column, self.columns)

    def cut(self, index: int, parts: int) -> slice:
        return slice(self.size * index // parts, self.size * (index + 1) // parts)

    def neighbours(self, pe: int) -> Dict[int, int]:
        """The PE beyond each side that is not the plate's border."""
        row, column = self.place(pe)
        places = ((side, row + down, column + right) for side, ((down, right), _, _) in enumerate(SIDES))
        return {side: r * self.columns + c for side, r, c in places if 0 <= r < self.rows and 0 <= c < self.columns}


def first_tile(grid: Grid, pe: int) -> NDArray[np.float64]:
    """The tile with a border of halos; those that no neighbour fills keep the temperature around the plate."""
    rows, columns = grid.part(pe)
    tile = np.full((rows.stop - rows.start + 2, columns.stop - columns.start + 2), OTHERS)
    tile[1:-1, 1:-1] = 0
    if rows.start == 0:
        tile[0, 1:-1] = TOP
    return tile


def run(grid: Grid, pe: int, steps: int) -> NDArray[np.float64]:
    """This PE's tile after some steps, without its halos."""
    tile, neighbours = first_tile(grid, pe), grid.neighbours(pe)
    longest = math.ceil(grid.size / min(grid.rows, grid.columns))
    inboxes, arrived = chime.zeros((2, len(SIDES), longest)), chime.zeros(len(SIDES), np.uint64)
    for step in range(steps):
        inbox = inboxes[step % 2]
        for side, neighbour in neighbours.items():
            edge = np.ascontiguousarray(tile[SIDES[side][1]])
            there = OPPOSITE[side]
            chime.put_signal(inbox[there, : edge.size], edge, arrived[there], step + 1, neighbour)
        for side in neighbours:
            chime.signal_wait(arrived[side], ">=", step + 1, timeout=WAIT_S)
            halo = SIDES[side][2]
            tile[halo] = inbox.np[side, : tile[halo].size]
        middle = tile[1:-1, 1:-1]
        middle += ALPHA * (tile[:-2, 1:-1] + tile[2:, 1:-1] + tile[1:-1, :-2] + tile[1:-1, 2:] - 4 * middle)
    chime.barrier()  # no neighbour's put is on its way to what is freed
    inboxes.free()
    arrived.free()
    return tile[1:-1, 1:-1]


def gathered(grid: Grid, tile: NDArray[np.float64]) -> NDArray[np.float64]:
    """The whole plate. Collective; every PE gets it."""
    with chime.zeros((grid.size, grid.size)) as mine, chime.zeros((grid.size, grid.size)) as whole:
        mine[grid.part(chime.my_pe())] = tile
        chime.WORLD.reduce(whole, mine)
        return whole.np.copy()


def serial(size: int, steps: int) -> NDArray[np.float64]:
    """The same plate by one process, as products with the matrix of second differences."""
    second = np.diag(np.full(size, -2.0)) + np.diag(np.ones(size - 1), 1) + np.diag(np.ones(size - 1), -1)
    border = np.zeros((size, size))
    border[0] += TOP
    for whole_side in (border[-1], border[:, 0], border[:, -1]):
        whole_side += OTHERS
    plate = np.zeros((size, size))
    for _ in range(steps):
        plate = plate + ALPHA * (second @ plate + plate @ second + border)
    return plate


def main() -> None:
    parser = argparse.ArgumentParser(prog="chime.examples.halo", description="Heat in a plate that is cut into tiles, one a PE.")
    parser.add_argument("--size", type=int, default=96, help="points of a side")
    parser.add_argument("--steps", type=int, default=50, help="time steps")
    parser.add_argument("--validate", action="store_true", help="compare with one process's plate")
    options = parser.parse_args()
    with chime.init() as job:
        grid = Grid(job.n_pes, options.size)
        if options.size < max(grid.rows, grid.columns) or options.steps < 0:
            parser.error(f"--size is at least {max(grid.rows, grid.columns)} for {job.n_pes} PEs, and --steps not negative")
        plate = gathered(grid, run(grid, job.my_pe, options.steps))
        words = f"{grid.rows} x {grid.columns} PEs, {options.steps} steps: mean temperature {plate.mean():.6f}"
        if options.validate:
            difference = float(np.abs(plate - serial(options.size, options.steps)).max())
            words += f", {difference:.1e} from one process's"
            if not difference <= 1e-11 * TOP:
                print(words)
                sys.exit("the plates differ")
        if job.my_pe == 0:
            print(words)


if __name__ == "__main__":
    main()
