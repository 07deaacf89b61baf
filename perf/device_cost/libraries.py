"""The libraries of the table: how the kernels of each are compiled, and which version it is."""
import pathlib
import re
from dataclasses import dataclass

import toolkit

ORDER = ["p 8 B", "put 64 B", "put 64 B block", "put n", "put n block", "put_signal SET", "put_signal SET block",
         "put_signal ADD", "put_signal ADD block", "fetch_add 8 B", "quiet"]


def order_of(operation):
    return ORDER.index(operation) if operation in ORDER else len(ORDER)


@dataclass(frozen=True)
class Library:
    stem: str  # kernels/<stem>.cu, rules/<stem>.toml
    here: pathlib.Path
    options: tuple

    def compile(self, nvcc, arch, cubin):
        """{kernel: (registers, stack bytes)}. No launch bounds, no limit of registers: as a user's first kernel."""
        return toolkit.compile_cubin(nvcc, self.here / "kernels" / f"{self.stem}.cu", arch, self.options, cubin)


def chime(here, folder):
    """The headers of this tree. They say chime/device/... of what lies in device/: `folder` gets it by that name."""
    root = here.parent.parent
    (folder / "chime").mkdir(exist_ok=True)
    if not (folder / "chime" / "device").exists():
        (folder / "chime" / "device").symlink_to(root / "device")
    return Library("chime", here, (f"-I{root / 'include'}", f"-I{folder}"))


def chosen(here, rivals, folder):
    found = [chime(here, folder)]
    if rivals:
        include = rivals / "nvidia"
        # Only the GPU-direct backend for mlx5, as a program may ask for; else each call would choose among four.
        others_off = tuple(f"-DNCCL_GIN_{backend}_ENABLE=0" for backend in ("PROXY", "GPI", "EFA_GDA"))
        found.append(Library("nccl_gin", here, (f"-I{include / 'nccl' / 'include'}", *others_off)))
        # All of the device library is in its headers, too; so the same compiler makes it, as that of the others.
        found.append(Library("nvshmem", here, (f"-I{include / 'nvshmem' / 'include'}", "-rdc=true",
                                               "-DNVSHMEM_ENABLE_ALL_DEVICE_INLINING")))
    return found


def versions(rivals):
    """Of the wheels: their folders of metadata are named so."""
    if not rivals:
        return {}
    found = {}
    for name in ("nvidia_nccl_cu13", "nvidia_nvshmem_cu13"):
        for folder in rivals.glob(f"{name}-*.dist-info"):
            found[name] = re.sub(rf"^{name}-|\.dist-info$", "", folder.name)
    return found
