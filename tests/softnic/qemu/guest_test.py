#!/usr/bin/env python3
"""The emulated device on a kernel that has RDMA of its own.

libibverbs asks the kernel's RDMA netlink for devices before it looks into sysfs; here, on machines without it, that
path is never taken. A guest with ib_core and ib_uverbs shows that the softnic still answers.

guest_test.py <build folder>

Needs qemu-system-x86_64, busybox (static), cpio, and a kernel with ib_core: installed (/boot), or a Debian package
unpacked in the folder that SOFTNIC_GUEST_KERNEL names (default: <build folder>/guest; scripts/soak makes it).
Exit code 77 and a reason when one is missing.
"""
import glob
import gzip
import os
import platform
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ["ibv_devices", "ibv_devinfo", "ibv_rc_pingpong"]
MODULES = ["ib_core", "ib_uverbs"]
BOOT_SECONDS = 480

INIT = r"""#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /bin
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/softnic
mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs dev /dev
ip link set lo up
step() { name=$1; shift; if "$@" >/tmp/out 2>&1; then echo "GUEST ok $name"
  else echo "GUEST failed $name"; cat /tmp/out; fi; }
for module in $(cat /modules/order); do insmod /modules/$module || echo "GUEST failed insmod $module"; done

# The kernel's own socket of protocol 20, NETLINK_RDMA.
netlink_is_there() { cat /proc/net/netlink; awk '$2 == 20 { found = 1 } END { exit !found }' /proc/net/netlink; }
verbs_is_there() { cat /sys/class/infiniband_verbs/abi_version; }
# Without the shim netlink's answer counts, and SYSFS_PATH alone shows nothing.
nothing_without_shim() { SYSFS_PATH=/softnic/softnic.sysfs/infiniband ibv_devices >/tmp/devices
  cat /tmp/devices; ! grep -q mlx5_0 /tmp/devices; }
found() { "$@" >/tmp/devices; cat /tmp/devices; grep -q mlx5_0 /tmp/devices; }
pingpong() { softnic-run ibv_rc_pingpong -n 100 >/tmp/server 2>&1 & server=$!
  for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1; softnic-run ibv_rc_pingpong -n 100 127.0.0.1 && break
  done && wait $server || { cat /tmp/server; false; }; }

step "kernel has RDMA netlink" netlink_is_there
step "kernel has uverbs" verbs_is_there
step "control: nothing is found without the shim" nothing_without_shim
step "preloaded: device is found" found softnic-run ibv_devices
step "preloaded: devinfo" softnic-run ibv_devinfo -v
step "preloaded: two processes" pingpong
step "in process: device is found" in_process_test --gtest_filter='InProcess.DeviceIsFound:InProcess.Loopback*'
echo "GUEST end"
poweroff -f
"""
STEPS = INIT.count('step "')


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def need(program):
    return shutil.which(program) or skip(f"{program} is not installed")


def kernels(folders):
    """(kernel image, module root, release) of every kernel that has ib_core as a module."""
    for root in folders:
        for image in sorted(glob.glob(os.path.join(root, "boot/vmlinuz-*")), reverse=True):
            release = os.path.basename(image)[len("vmlinuz-"):]
            if glob.glob(os.path.join(root, "lib/modules", release, "kernel/drivers/infiniband/core/ib_core.ko*")):
                yield image, root, release


def files_of_modules(root, release):
    """Module files in the order in which they must be loaded."""
    folder = os.path.join(root, "lib/modules", release)
    if not os.path.exists(os.path.join(folder, "modules.dep")):
        subprocess.run([need("depmod"), "-b", root, release], check=True)
    needs = {}
    with open(os.path.join(folder, "modules.dep")) as file:
        for line in file:
            path, _, rest = line.partition(":")
            needs[os.path.basename(path).split(".")[0]] = (path, rest.split())
    order = []

    def add(path):
        name = os.path.basename(path).split(".")[0]
        for other in needs[name][1]:
            add(other)
        if path not in order:
            order.append(path)

    for module in MODULES:
        add(needs[module][0])
    return [os.path.join(folder, path) for path in order]


def libraries_of(program):
    text = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return {word for line in text.splitlines() for word in line.split() if word.startswith("/")}


def put(root, file, at):
    to = os.path.join(root, at.lstrip("/"))
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(file, to)


def fill(root, build, modules):
    put(root, need("busybox"), "/bin/busybox")
    softnic = os.path.join(build, "softnic")
    test = os.path.join(build, "tests/softnic/in_process/softnic_in_process_test")
    programs = {need(p): "/usr/bin/" + p for p in PROGRAMS}
    programs[os.path.join(softnic, "softnic-run")] = "/softnic/softnic-run"
    programs[test] = "/softnic/in_process_test"
    library = os.path.join(softnic, "libsoftnic.so")
    programs[library] = "/softnic/libsoftnic.so"
    for provider in ("libmlx5.so.1", "libibverbs.so.1"):
        found = glob.glob(f"/usr/lib/*/{provider}") or skip(f"{provider} is not installed")
        programs[found[0]] = found[0]
    for driver in glob.glob("/usr/lib/*/libibverbs/libmlx5-rdmav*.so"):
        programs[driver] = driver
    for file, at in programs.items():
        put(root, file, at)
        for needed in libraries_of(file):
            put(root, needed, needed)
    put(root, library, library)  # where the test program looks for it
    shutil.copytree(os.path.join(softnic, "softnic.sysfs"), os.path.join(root, "softnic/softnic.sysfs"), symlinks=True)
    shutil.copytree(os.path.join(softnic, "softnic.sysfs"),
                    os.path.join(root, os.path.dirname(library).lstrip("/"), "softnic.sysfs"), symlinks=True)
    put(root, "/etc/libibverbs.d/mlx5.driver", "/etc/libibverbs.d/mlx5.driver")
    names = []
    for module in modules:
        put(root, module, "/modules/" + os.path.basename(module))
        names.append(os.path.basename(module))
    with open(os.path.join(root, "modules/order"), "w") as file:
        file.write("\n".join(names) + "\n")
    with open(os.path.join(root, "init"), "w") as file:
        file.write(INIT)
    os.chmod(os.path.join(root, "init"), 0o755)


def pack(root, to):
    names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    archive = subprocess.run([need("cpio"), "-o", "-H", "newc", "--quiet"], cwd=root, input=names,
                             capture_output=True, check=True).stdout
    with gzip.open(to, "wb", compresslevel=1) as file:
        file.write(archive)


def boot(image, initrd):
    command = [need("qemu-system-x86_64"), "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
               "-nographic", "-no-reboot", "-nic", "none", "-kernel", image, "-initrd", initrd,
               "-append", "console=ttyS0 quiet panic=-1"]
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=BOOT_SECONDS).stdout
    except subprocess.TimeoutExpired as late:
        text = (late.stdout or b"").decode(errors="replace")
        sys.exit(f"{text}\nthe guest did not end within {BOOT_SECONDS} s")


def main():
    build = os.path.abspath(sys.argv[1])
    if platform.machine() != "x86_64":
        skip("the guest is an x86-64 one")
    for program in ("qemu-system-x86_64", "busybox", "cpio", *PROGRAMS):
        need(program)
    folders = [os.environ.get("SOFTNIC_GUEST_KERNEL") or os.path.join(build, "guest"), "/"]
    kernel = next(kernels(folders), None)
    if not kernel:
        skip(f"no kernel with ib_core in {' or '.join(folders)} (Debian: linux-image-cloud-amd64)")
    image, root, release = kernel
    print("kernel", release)
    with tempfile.TemporaryDirectory() as folder:
        guest = os.path.join(folder, "root")
        os.mkdir(guest)
        fill(guest, build, files_of_modules(root, release))
        pack(guest, os.path.join(folder, "initrd"))
        text = boot(image, os.path.join(folder, "initrd"))
    print(text)
    passed = text.count("GUEST ok ")
    if passed != STEPS or "GUEST failed" in text or "GUEST end" not in text:
        sys.exit(f"{passed} of {STEPS} steps passed")
    print(f"{passed} steps passed")


main()
