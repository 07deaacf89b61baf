"""Each PE sends its numbers to its right neighbour with a signal, and checks what it got: chime-run -n 4 python -m chime.examples.ring"""

import numpy as np

import chime


def main() -> None:
    with chime.init() as job:
        inbox, arrived = chime.zeros(1024), chime.zeros(1, np.uint64)
        mine = 1000.0 * job.my_pe + np.arange(1024)
        chime.put_signal(inbox, mine, arrived, 1, (job.my_pe + 1) % job.n_pes)
        chime.signal_wait(arrived, "==", 1, timeout=60)
        left = (job.my_pe - 1) % job.n_pes
        assert np.array_equal(inbox.np, 1000.0 * left + np.arange(1024)), "wrong numbers have arrived"
        print(f"PE {job.my_pe} of {job.n_pes}: got {inbox.np[0]:.0f} to {inbox.np[-1]:.0f} from PE {left}")


if __name__ == "__main__":
    main()
