"""real_faults_test.py <chime-doctor> <soname> <C compiler> [<softnic-run> <its sysfs>]: faults that can be made on any machine, made for
real. Each adds to the machine's own report exactly the lines that it says. Those that need privileges are left out where these are missing, and listed."""

import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DOCTOR, SONAME, COMPILER, *SOFTNIC = sys.argv[1:]
# Whether a library hangs is no question of how busy the machine is. The hanging one takes twice as long.
PATIENCE = ["--patience", "30"]

MOST_SECONDS = 100  # for one run

problems, skipped = [], []


def lines_of(command, limit=None, levels=("warning", "wrong"), **environment):
    """The lines of these levels, as {(level, what): text}; None: there is no report."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=MOST_SECONDS,
                             preexec_fn=limit and (lambda: resource.setrlimit(*limit)))
    except subprocess.TimeoutExpired:
        return None
    if not run.stdout.startswith("{"):
        return None
    findings = json.loads(run.stdout)["findings"]
    return {(one["level"], one["what"]): one["seen"] for one in findings if one["level"] in levels}


def expect(name, before, after, *wanted):
    if after is None:
        problems.append(f"{name}: no report")
        return
    new = set(after) - set(before)
    if new != set(wanted) - set(before) or not set(wanted) <= set(after):  # the machine may have the fault already
        problems.append(f"{name}: wanted {sorted(wanted)}, and the report has {sorted(new)}: {after}")


def loads(library):
    try:
        return ctypes.CDLL(library)
    except OSError:
        return None


def what_is_there(report):
    """Libraries that this process loads, too, are found. Else a probe that always fails would have each fault below already."""
    pmix, hwloc, fabric = map(loads, ("libpmix.so.2", "libhwloc.so.15", "libfabric.so.1"))
    expected = {
        "PMIx": pmix,
        "hwloc": hwloc and hwloc.hwloc_get_api_version() >= 0x20100 and "not compiled in" not in report.get(("warning", "hwloc"), ""),
        "libfabric": fabric and fabric.fi_version() >= (1 << 16 | 17) and "is built without" not in report.get(("warning", "libfabric"), ""),
    }
    problems.extend(f"{what} is there, and the report does not say so: {report}" for what, is_there in expected.items()
                    if is_there and ("ok", what) not in report)
    if expected["libfabric"] and shutil.which("fi_info"):
        listed = subprocess.run(["fi_info", "--list"], capture_output=True, text=True, timeout=MOST_SECONDS, check=False).stdout
        if "tcp:" in listed and "tcp" not in report.get(("ok", "libfabric"), ""):
            problems.append(f"fi_info lists tcp, and the report does not: {report}")


def with_doctor(*command):
    return [*command, DOCTOR, "--json", *PATIENCE]


def limits_and_variables(healthy):
    files = (resource.RLIMIT_NOFILE, (40, 4096))
    expect("40 open files", healthy, lines_of(with_doctor(), limit=files), ("wrong", "open files"))
    expect("an interface that is not there", healthy, lines_of(with_doctor(), CHIME_BOOTSTRAP_IF="eth99"), ("wrong", "CHIME_BOOTSTRAP_IF"))
    expect("a refused value", healthy, lines_of(with_doctor(), CHIME_NIC_SL="high"), ("wrong", "CHIME_NIC_SL"))


def unreadable(folder):
    """Texts that are no UTF-8, and a file that can be opened and not read: they change lines, and the report is whole."""
    report = lines_of(with_doctor(), CHIME_NIC_SL=os.fsdecode(b"\xff\xfe"))
    if report is None or ("wrong", "CHIME_NIC_SL") not in report:
        problems.append(f"a value that is no UTF-8: {report}")
    full = subprocess.run(["sh", "-c", '"$0" >/dev/full', DOCTOR], capture_output=True, check=False)
    if full.returncode != 2:
        problems.append(f"a report that cannot be printed: exit code {full.returncode}")
    (folder / "proc/self/limits").mkdir(parents=True)
    if lines_of([*with_doctor(), "--root", str(folder)]) is None:
        problems.append("a file that cannot be read: no report")
    (folder / "probes.json").write_text("no JSON")
    wrong = subprocess.run([DOCTOR, "--root", str(folder)], capture_output=True, text=True, check=False)
    if wrong.returncode != 2 or "chime-doctor: " not in wrong.stderr:
        problems.append(f"wrong answers beside a tree: exit code {wrong.returncode}, {wrong.stderr}")


def namespaces(healthy):
    """A file system and a network of its own; absent privileges, unshare fails."""
    if subprocess.run(["unshare", "--mount", "--net", "true"], capture_output=True, check=False).returncode != 0:
        skipped.append("a small /dev/shm, a network without lo: unshare needs privileges")
        return
    small = with_doctor("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0" "$@"')
    expect("a small /dev/shm that is used", healthy, lines_of(small, CHIME_P2P="off"), ("wrong", "/dev/shm"))
    expect("a small /dev/shm that is not used", healthy, lines_of(small))
    hidden = with_doctor("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /sys && exec "$0" "$@"')
    expect("a hidden /sys", healthy, lines_of(hidden), ("warning", "GPU"), ("warning", "RDMA devices"))
    expect("a network without lo", healthy, lines_of(with_doctor("unshare", "--net")), ("wrong", "loopback"))


def libraries(healthy, folder):
    def broken(name):
        place = folder / name
        place.mkdir()
        (place / name).write_text("no library")
        return {"LD_LIBRARY_PATH": str(place)}

    expect("a broken libpmix", healthy, lines_of(with_doctor(), **broken("libpmix.so.2")), ("warning", "PMIx"))
    expect("a broken libfabric", healthy, lines_of(with_doctor(), **broken("libfabric.so.1")), ("warning", "libfabric"))
    # libpmix needs libhwloc.
    after = lines_of(with_doctor(), **broken("libhwloc.so.15"))
    expect("a broken libhwloc", {**healthy, ("warning", "PMIx"): ""}, after, ("warning", "hwloc"))
    older = folder / "older"
    older.mkdir()
    (older / f"{SONAME}.99").write_text("")
    (older / SONAME).symlink_to(f"{SONAME}.99")
    expect("another version", healthy, lines_of(with_doctor(), LD_LIBRARY_PATH=str(older)), ("wrong", "Chime"))


def library_that(action, folder):
    """A libfabric whose constructor does so; the variable that leads to it."""
    place = pathlib.Path(tempfile.mkdtemp(dir=folder))
    source = place / "library.c"
    source.write_text(f"#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void act(void) {{ {action} }}\n")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(place / "libfabric.so.1"), str(source)], check=True)
    return {"LD_LIBRARY_PATH": str(place)}


def deadly_libraries(healthy, folder):
    for action, how in (("abort();", "signal 6"), ("exit(3);", "exit code 3"), ('puts("hello"); _exit(0);', "exit code 0")):
        after = lines_of(with_doctor(), **library_that(action, folder))
        expect(f"a library that does {action}", healthy, after, ("wrong", "no answer"))
        if after and how not in after.get(("wrong", "no answer"), ""):
            problems.append(f"a library that does {action}: wanted {how}: {after}")


def quick_report(name, healthy, **environment):
    """With the patience that users have, the doctor takes 2 s. A machine that does more may need several attempts."""
    seconds = []
    while not seconds or (seconds[-1] > 2 and sum(seconds) < 60):
        began = time.monotonic()
        after = lines_of([DOCTOR, "--json"], **environment)
        seconds.append(time.monotonic() - began)
    if seconds[-1] > 2:
        problems.append(f"{name} keeps the doctor for {min(seconds):.1f} s")
    expect(name, healthy, after, ("warning", "late answer"))


def hanging_library(healthy, folder):
    quick_report("a library that hangs", healthy, **library_that("sleep(60);", folder))


def is_running(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def no_process_stays(folder):
    """The doctor is killed while a library hangs: the process that asked it ends, too."""
    noted = folder / "noted"
    note = f'FILE* noted = fopen("{noted}.new", "w"); fprintf(noted, "%d", (int)getpid()); fclose(noted); rename("{noted}.new", "{noted}"); sleep(60);'
    doctor = subprocess.Popen([DOCTOR, *PATIENCE], stdout=subprocess.DEVNULL, env={**os.environ, **library_that(note, folder)})
    if not wait_for(noted.exists):
        problems.append("no process has asked the library that hangs")
    doctor.kill()
    doctor.wait()
    if noted.exists() and not wait_for(lambda: not is_running(noted.read_text())):
        problems.append("a process stays behind a doctor that was killed")
        os.kill(int(noted.read_text()), signal.SIGKILL)


WITHOUT_RIGHT = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]


def may_drop_rights():
    return shutil.which("setpriv") and subprocess.run([*WITHOUT_RIGHT, "true"], capture_output=True, check=False).returncode == 0


def preloaded(source):
    library = source.with_suffix(".so")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return str(library)


def stale_folders(healthy, folder):
    """Folders that answer no more, as those of a network file system whose server is gone, in the variables whose folders are searched."""
    source = folder / "stale.c"
    source.write_text("""#define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/stat.h>
        #include <unistd.h>
        static void hang(const char* path) { while (strncmp(path, "/stale", 6) == 0) pause(); }
        int stat(const char* path, struct stat* found) {
          hang(path);
          return ((int (*)(const char*, struct stat*))dlsym(RTLD_NEXT, "stat"))(path, found);
        }
        char* realpath(const char* path, char* found) {
          hang(path);
          return ((char* (*)(const char*, char*))dlsym(RTLD_NEXT, "realpath"))(path, found);
        }
        """)
    library = preloaded(source)
    for name, value in (("PATH", f"/stale/bin:{os.environ['PATH']}"), ("LD_LIBRARY_PATH", "/stale/lib")):
        quick_report(f"a stale folder in {name}", healthy, LD_PRELOAD=library, **{name: value})


def brief():
    report = subprocess.run([DOCTOR, "--json", "--brief", *PATIENCE], capture_output=True, text=True, check=False).stdout
    if any(one["level"] == "ok" for one in json.loads(report)["findings"]) or json.loads(report)["ok"] == 0:
        problems.append(f"--json --brief: {report}")


def deadly_driver(folder):
    """One that ends a process that asks whether an interface's link pauses."""
    source = folder / "deadly.c"
    source.write_text("""#define _GNU_SOURCE
        #include <dlfcn.h>
        #include <linux/ethtool.h>
        #include <linux/sockios.h>
        #include <net/if.h>
        #include <stdarg.h>
        #include <stdlib.h>
        int ioctl(int file, unsigned long request, ...) {
          va_list arguments;
          va_start(arguments, request);
          void* argument = va_arg(arguments, void*);
          va_end(arguments);
          if (request == SIOCETHTOOL && *(unsigned*)((struct ifreq*)argument)->ifr_data == ETHTOOL_GPAUSEPARAM) abort();
          return ((int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl"))(file, request, argument);
        }
        """)
    return preloaded(source)


def closed_nic(folder):
    """Files of NICs that nobody may open."""
    source = folder / "closed.c"
    source.write_text("""#define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <stdarg.h>
        #include <string.h>
        #define OPEN(name)                                            \\
          int name(const char* path, int flags, ...) {                \\
            if (strstr(path, "/uverbs")) return errno = EACCES, -1;   \\
            va_list arguments;                                        \\
            va_start(arguments, flags);                               \\
            unsigned mode = va_arg(arguments, unsigned);              \\
            va_end(arguments);                                        \\
            return ((int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, mode); \\
          }
        OPEN(open)
        OPEN(open64)
        """)
    return preloaded(source)


def nic(folder):
    """On the softnic, whose tree libibverbs reads, and Chime: its copy gets the faults."""
    softnic, sysfs = SOFTNIC
    tree = folder / "sysfs"
    shutil.copytree(pathlib.Path(sysfs) / "ethernet", tree, symlinks=True)

    def look(limit=None, by=(), **environment):  # a small heap, since not everybody may raise the limit on locked memory
        command = with_doctor(*by, softnic, "--ethernet", "env", f"SYSFS_PATH={tree}")
        return lines_of(command, limit=limit, CHIME_NIC_TCLASS="106", CHIME_SYMMETRIC_SIZE="1M", **environment)

    healthy = look()
    expect("the softnic", {}, {one: text for one, text in healthy.items() if one[0] == "wrong"})
    memory = (resource.RLIMIT_MEMLOCK, (65536, 65536))
    if os.geteuid() == 0:  # the limit does not bind root
        expect("64 KiB of locked memory that root may exceed", healthy, look(memory))
    if os.geteuid() != 0 or may_drop_rights():
        expect("64 KiB of locked memory", healthy, look(memory, WITHOUT_RIGHT if os.geteuid() == 0 else []), ("wrong", "locked memory"))
    else:
        skipped.append("64 KiB of locked memory: setpriv cannot drop CAP_IPC_LOCK")
    expect("a driver that ends what asks for pauses", healthy, look(LD_PRELOAD=deadly_driver(folder)), ("wrong", "no answer"))
    said = [text for (_, what), text in look(LD_PRELOAD=closed_nic(folder)).items() if what == "DevX"]
    if len(said) != 1 or not re.search(r"no context \([A-Z][a-z]+ .*\)", said[0]):  # rdma-core looks elsewhere, too, and names the last error
        problems.append(f"a NIC that may not be opened: {said}")
    port = next(tree.glob("devices/pci*/*/infiniband/mlx5_0/ports/1"))
    types = list((port / "gid_attrs/types").iterdir())
    for place in types:
        place.write_text("IB/RoCE v1\n")
    expect("RoCE v1 alone", healthy, look(), ("wrong", "RoCE v2 address"))
    for place in types:
        place.write_text("RoCE v2\n")
    (port / "state").write_text("1: DOWN\n")
    expect("a port that is down", healthy, look(), ("wrong", "link"))


def main():
    report = lines_of(with_doctor(), levels=("ok", "warning", "wrong"))
    what_is_there(report)
    healthy = {one: text for one, text in report.items() if one[0] != "ok"}
    limits_and_variables(healthy)
    namespaces(healthy)
    brief()
    with tempfile.TemporaryDirectory(prefix="doctor-") as scratch:
        libraries(healthy, pathlib.Path(scratch))
        hanging_library(healthy, pathlib.Path(scratch))
        no_process_stays(pathlib.Path(scratch))
        stale_folders(healthy, pathlib.Path(scratch))
        deadly_libraries(healthy, pathlib.Path(scratch))
        unreadable(pathlib.Path(scratch) / "unreadable")
        if SOFTNIC:
            nic(pathlib.Path(scratch))
    print("\n".join(problems + [f"not made: {name}" for name in skipped]))
    if problems:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
