# Functions that the scripts share: where the project is, how a preset is built, how tests are run. Sourced by the others; running it does
# nothing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where presets are built, a folder <preset> each. BUILD_FOLDER names another place, for where another user's build lies.
builds=$(realpath -m -- "${BUILD_FOLDER:-$root/build}")
jobs=${JOBS:-$(nproc)}

# Open MPI refuses to start as root unless both are set; containers and CI run as root.
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

# A second build of the same file is free where ccache is installed, also in the build folder of another preset.
if command -v ccache >/dev/null; then
  export CCACHE_BASEDIR=${CCACHE_BASEDIR-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR-1}
  # Precompiled headers can be cached only where their times and macros are not asked for.
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS-pch_defines,time_macros}
  export CMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER-ccache}
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
  export CMAKE_CUDA_COMPILER_LAUNCHER=${CMAKE_CUDA_COMPILER_LAUNCHER-ccache}
fi

say() { printf '\n== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# help_if_asked "$@": with -h or --help, prints the script's first lines, which say how it is used, and ends it.
help_if_asked() {
  case ${1-} in -h | --help) sed -n '2,/^set -u/s/^# \{0,1\}//p' "$0"; exit ;; esac
}

# find_nvcc: prints the path of nvcc; fails when this machine has none.
find_nvcc() {
  command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }
}

# find_clang_cuda: prints the clang++ that can compile for the softgpu; fails when this machine has none (cmake/ChimeSoftgpu.cmake).
find_clang_cuda() {
  local clang
  for clang in clang++-19 clang++; do
    [ "$("$clang" -dumpversion 2>/dev/null | cut -d. -f1)" -ge 19 ] 2>/dev/null && "$clang" --print-targets | grep -q nvptx64 &&
      command -v "$clang" && return
  done
  return 1
}

# Where scripts/setup ci puts CUDA's disassembler, for toolkits that come without it.
fetched_disassembler=$builds/disassembler

# find_disassembler <nvcc>: prints the folder of cuobjdump and nvdisasm, which it calls; fails when this machine has none.
find_disassembler() {
  local cuobjdump
  for cuobjdump in "$(dirname "$1")/cuobjdump" "$(command -v cuobjdump)" "$fetched_disassembler"/nvidia/*/bin/cuobjdump; do
    [ -x "$cuobjdump" ] && dirname "$cuobjdump" && return
  done
  return 1
}

# disassemble <folder of cuobjdump> <cubin>: prints its machine code, with the errors. cuobjdump, because nvdisasm alone
# stumbles over the symbol sizes that ptxas 13.0 writes.
disassemble() { PATH=$1:$PATH cuobjdump -sass "$2" 2>&1; }

# progress <text>: how far something is that takes long. On a terminal one line that moves; else a line of its own, none
# in the first five seconds, so that what is quick is silent, and then at most one in ten. A function that shows progress
# begins with start_progress and ends with end_progress.
start_progress() { progress_due=$((SECONDS + 5)); }
progress() {
  if [ -t 1 ]; then
    printf '\r\033[K   %s' "$*"
  elif ((SECONDS >= progress_due)); then
    printf '   %s\n' "$*"
    progress_due=$((SECONDS + 10))
  fi
}
end_progress() { if [ -t 1 ]; then printf '\r\033[K'; fi; }

# build_progress: reads what CMake and Ninja say, of which "[34/128] Building ..." tells how far it is. CMake may say nothing for minutes.
build_progress() {
  local line at="configuring"
  start_progress
  progress "$at"
  while IFS= read -r -t 5 line || (($? > 128)); do
    # "Re-checking globbed directories" is no step of the build.
    [[ $line != *"] Re-"* && $line =~ ^\[([0-9]+)/([0-9]+)\] ]] && at="compiled ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]}"
    progress "$at"
  done
  end_progress
}

# can_write <path>...: whether each can be changed or made. If not, says whose the first is that cannot, and what to do.
can_write() {
  local path at
  for path in "$@"; do
    at=$path
    while [ ! -e "$at" ]; do at=$(dirname "$at"); done
    [ -w "$at" ] && continue
    cat >&2 <<END
$(basename "$0"): $at cannot be written by $(id -un): it belongs to $(stat -c %U "$at")$([ -O "$at" ] && echo " and is read-only").
Build in another place:                  BUILD_FOLDER=\$HOME/chime-build scripts/$(basename "$0")
or, if the build may be yours, as root:  chown -R $(id -un) '$builds'
END
    return 1
  done
}

# The inputs that configured a build folder. CMake keeps options that nobody names any more, and forgets all of them when the compiler is
# another one.
configured_by() { cat "$root/CMakePresets.json"; echo "${CONFIGURE-} ${CC-} ${CXX-} ${CUDACXX-} ${CUDAFLAGS-}"; }

# build_preset <preset> [target...]: configures, with CONFIGURE's options beside the preset's, and builds: anew where the folder
# was configured otherwise. The compiler's output is shown only when it fails.
build_preset() {
  local preset=$1 folder=$builds/$1 log=$builds/$1/build.log fresh=
  shift
  can_write "$folder" "$log" "$folder/configured_by" "$folder/CMakeCache.txt" "$folder/CMakeFiles" "$folder/.ninja_log" || return 1
  mkdir -p "$folder"
  configured_by | cmp -s - "$folder/configured_by" || fresh=--fresh
  configured_by >"$folder/configured_by"
  {
    cd "$root" && cmake $fresh --preset "$preset" -B "$folder" ${CONFIGURE-} && cmake --build "$folder" -j "$jobs" ${1:+--target "$@"}
  } 2>&1 | tee "$log" | build_progress
  [ "${PIPESTATUS[0]}" = 0 ] && return
  tail -n 60 "$log"
  echo "build of preset '$preset' failed; the whole log is $log"
  return 1
}

# test_preset <preset> [ctest arguments]: runs the tests that the preset has built.
# --no-tests=error: a filter that matches nothing is a mistake, not a success.
# --timeout bounds tests that forgot their own TIMEOUT. Many tests wait, so twice as many as there are jobs run at a time.
test_preset() {
  local preset=$1 run=(ctest)
  shift
  # TSan of clang 14 cannot place its shadow under the address randomisation of recent kernels.
  [ "$preset" = tsan ] && setarch -R true 2>/dev/null && run=(setarch -R ctest)
  (
    cd "$root" || exit 1
    "${run[@]}" --test-dir "$builds/$preset" --output-on-failure --no-tests=error --timeout 300 \
      -j "$((jobs * 2))" "$@"
  )
}
