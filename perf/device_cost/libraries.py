"""The libraries of the table: how the kernels of each are compiled, and which version it is."""
import pathlib
import re
from dataclasses import dataclass

import executed
import toolkit

ORDER = ["p 8 B", "put 64 B", "put 64 B block", "put n", "put n, registered", "put n block", "put_signal SET", "put_signal SET block",
         "put_signal ADD", "put_signal ADD block", "fetch_add 8 B", "quiet"]


def order_of(row):
    """The position of a row in the table: rows to compare are neighbours."""
    return ORDER.index(row["operation"]), executed.MODES.index(row["mode"])  # and the libraries as they were compiled


@dataclass(frozen=True)
class Library:
    stem: str  # kernels/<stem>.cu, rules/<stem>.toml
    name: str
    here: pathlib.Path
    options: tuple
    device_library: str = ""  # linked with the kernels, if there is one

    def compile(self, nvcc, arch, cubin):
        """{kernel: (registers, stack bytes)}. No launch bounds, no limit of registers: as a user's first kernel."""
        source = self.here / "kernels" / f"{self.stem}.cu"
        if not self.device_library:
            return toolkit.compile_cubin(nvcc, source, arch, self.options, cubin)
        part = cubin.with_suffix(".part.cubin")
        toolkit.compile_cubin(nvcc, source, arch, ("-rdc=true", *self.options), part)
        return toolkit.link_cubin(nvcc, part, self.device_library, arch, cubin)


def chime(here, folder):
    """The headers of this tree. They say chime/device/... of what lies in device/: `folder` gets it by that name."""
    root = here.parent.parent
    (folder / "chime").mkdir(exist_ok=True)
    if not (folder / "chime" / "device").exists():
        (folder / "chime" / "device").symlink_to(root / "device")
    return Library("chime", "Chime", here, (f"-I{root / 'include'}", f"-I{folder}"))


def gin(here, wheels):
    # Only the GPU-direct backend for mlx5, as a program may ask for; else each call would choose among four.
    others_off = tuple(f"-DNCCL_GIN_{backend}_ENABLE=0" for backend in ("PROXY", "GPI", "EFA_GDA"))
    return Library("nccl_gin", "NCCL GIN", here, (f"-I{wheels / 'nccl' / 'include'}", *others_off))


def nvshmem(here, wheels):
    """Twice: with the wheel's device library, as its users link it, and from the headers alone by our compiler. The latter takes
    the state of the library from it, and nothing else."""
    include, library = f"-I{wheels / 'nvshmem' / 'include'}", str(wheels / "nvshmem" / "lib" / "libnvshmem_device.a")
    return [Library("nvshmem", "NVSHMEM", here, (include,), library),
            Library("nvshmem", "NVSHMEM, inlined", here, (include, "-DNVSHMEM_ENABLE_ALL_DEVICE_INLINING"), library)]


def chosen(here, rivals, folder):
    found = [chime(here, folder)]
    if rivals:
        found += [gin(here, rivals / "nvidia"), *nvshmem(here, rivals / "nvidia")]
    return found


def versions(rivals):
    """The version of a wheel, from the name of its metadata folder."""
    if not rivals:
        return {}
    found = {}
    for name in ("nvidia_nccl_cu13", "nvidia_nvshmem_cu13"):
        for folder in rivals.glob(f"{name}-*.dist-info"):
            found[name] = re.sub(rf"^{name}-|\.dist-info$", "", folder.name)
    return found
