"""What the NICs of a job on the softnic have sent, as they count it."""
import json
import os
import subprocess
import tempfile


def bytes_of_busiest(command, pes, **variables):
    """RDMA writes of the NIC that sent most, of `command`, a chime-run of so many PEs that ends well."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters")
        done = subprocess.run(command, env=dict(os.environ, SOFTNIC_COUNTERS=path, **variables), text=True, capture_output=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
    assert len(lines) == pes, lines
    return max(line["to_peers"].get("RDMA_WRITE", {}).get("bytes", 0) for line in lines)
