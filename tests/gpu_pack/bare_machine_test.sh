#!/bin/bash
# bare_machine_test.sh <source folder> <build folder, of preset softgpu>: an archive of scripts/gpu-pack runs without anything of the machine that
# built it. The test machine is this one in separate namespaces: without network, sources and build folder; without compilers but g++, which the
# softgpu calls; without headers of the libraries that Chime is built with, and without those libraries that the archive contains.
set -u
source=$1 build=$2
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
failed=0
fails() { echo "$*"; failed=1; }

unshare=(unshare --mount --net)
"${unshare[@]}" true 2>/dev/null || unshare=(unshare --map-root-user --mount --net)
"${unshare[@]}" true 2>/dev/null || { echo "skipped: this user may make no namespaces"; exit 77; }

# ---- The archive -----------------------------------------------------------------------------
archive=$scratch/packed.tar.xz
runs='gpu\.(facts|state_fill|streams|heap|users_kernels)$|chime-info|conformance\.pe\.softgpu-p2p-2(threads|processes)|^conformance\.element\.cpu-nic'
XZ_OPT=-0 "$source/scripts/gpu-pack" --preset softgpu --no-build "$build" --only "$runs" "$archive" || exit 1
tar -C "$scratch" -xf "$archive" || exit 1
at=$scratch/chime-gpu

# No file, link or list in it names a folder of the machine that built it.
for folder in "$source" "$build"; do
  named=$(grep -rlF -- "$folder" "$at")
  [ -z "$named" ] || fails "these name $folder:" "$named"
done
[ -z "$(find "$at" -type l -lname '/*')" ] || fails "a link leads out of the archive"
for file in "$at"/bin/* "$at"/lib/*.so*; do
  readelf -d "$file" 2>/dev/null | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p' | grep -v '^\$ORIGIN' && fails "is the runpath of $file"
done
for library in libibverbs.so.1 libmlx5.so.1 libhwloc.so.15 libnl-3.so.200; do
  [ -e "$at/lib/$library" ] || fails "$library is not in the archive"
done
[ -n "$(ls "$at/licences")" ] || fails "the libraries' licences are not in the archive"
if ls "$at"/lib | grep -E '^lib(cuda|cudart|nv)'; then fails "this is NVIDIA's"; fi

# ---- The machine -----------------------------------------------------------------------------
cat >"$scratch/bare" <<'END'
#!/bin/bash
# bare <source> <build> <archive's folder> <command...>: runs the command where all that is hidden.
set -u
source=$1 build=$2 at=$3
shift 3
hide() {
  local path
  for path in "$@"; do
    [ -e "$path" ] || continue
    if [ -d "$path" ]; then mount -t tmpfs none "$path"; else mount --bind /dev/null "$(readlink -f "$path")"; fi || exit 3
  done
}
ip link set lo up || exit 3
for tool in clang clang++ clang-19 clang++-19 clang-14 clang++-14 cmake ctest ninja git mpirun nvcc pkg-config python3; do
  for path in $(type -ap "$tool"); do hide "$path"; done
done
hide /usr/local/cuda /usr/include/{fmt,gtest,gmock,benchmark,CLI,nlohmann,infiniband,rdma,hwloc,hwloc.h,pmix,pmix.h,thrust,zlib.h} \
  /usr/lib/x86_64-linux-gnu/{cmake,pkgconfig,libibverbs,pmix2,libpmix.so.2,libfabric.so.1} /etc/libibverbs.d
for library in "$at"/lib/*.so*; do
  hide "/usr/lib/x86_64-linux-gnu/$(basename "$library")"
done
hide "$build" "$source"
cd / && exec "$@"
END
bare() { "${unshare[@]}" bash "$scratch/bare" "$source" "$build" "$at" "$@"; }
bare bash -c "[ ! -e '$source/README.md' ] && [ ! -e '$build/build.ninja' ] && ! cmake --version && ! python3 --version && [ -z \"\$(ip route)\" ]" 2>/dev/null ||
  fails "sources, tools or a network are still seen"

# ---- All of it passes there ------------------------------------------------------------------
report=$scratch/report
bare "$at/gpu-check" --report "$report" >"$scratch/printed" 2>&1 || fails "gpu-check ended with $?"
for name in chime-info.paths softgpu.gpu.{facts,state_fill,streams,heap,users_kernels} conformance.pe.softgpu-p2p-2{threads,processes} \
  conformance.element.cpu-nic-devx-roce-2processes; do
  grep -qE "^passed .* $name\$" "$report/report.txt" || fails "report.txt does not say that $name passed"
done
grep -q '^ *GPU  *softgpu' "$report/report.txt" || fails "report.txt lacks the facts"
python3 - "$report/report.json" <<'END' || fails "report.json does not say that all passed"
import json, sys
report = json.load(open(sys.argv[1]))
assert report["bad"] == 0 and report["passed"] == len(report["runs"]) >= 10, report
END

# Kernels are compiled with the headers of the archive, not with the build's.
export CHIME_SOFTGPU_CACHE=$scratch/cache
bare "$at/gpu-check" --report "$report" --only 'state_fill$' >>"$scratch/printed" 2>&1 || fails "kernels are not compiled there"
unset CHIME_SOFTGPU_CACHE

# ---- Faults are reported ---------------------------------------------------------------------
rm "$at/bin/gpu_streams"
bare "$at/gpu-check" --report "$report" --only 'gpu\.(facts|streams)$' >"$scratch/missing" 2>&1
[ $? = 1 ] || fails "a missing program is no failure"
grep -qE '^missing .* softgpu\.gpu\.streams$' "$scratch/missing" || fails "the missing program is not reported"
refused=$("$source/scripts/gpu-pack" --preset softgpu --no-build "$build" --only nothing.is.called.so "$archive" 2>&1) && fails "an empty archive was made"
grep -q "nothing is to be run" <<<"$refused" || fails "an empty archive: $refused"
[ "$failed" = 0 ] || cat "$scratch/printed" "$scratch/missing"
exit $failed
