# What the scripts share: where the project is, how a preset is built, how tests are run.
# Sourced by the others; running it does nothing.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
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
fi

say() { printf '\n== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# find_nvcc: prints the path of nvcc; fails when this machine has none.
find_nvcc() {
  command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }
}

# build_preset <preset> [target...]: configures and builds. The compiler's output is shown only when it fails.
build_preset() {
  local preset=$1 log=$root/build/$1/build.log
  shift
  mkdir -p "$(dirname "$log")"
  (
    cd "$root" || exit 1
    cmake --preset "$preset" && cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"}
  ) >"$log" 2>&1 || {
    tail -n 60 "$log"
    echo "build of preset '$preset' failed; the whole log is $log"
    return 1
  }
}

# test_preset <preset> [ctest arguments]: runs the tests that the preset has built.
# --no-tests=error: a filter that matches nothing is a mistake, not a success.
# --timeout bounds tests that forgot their own TIMEOUT.
test_preset() {
  local preset=$1 run=(ctest)
  shift
  # TSan of clang 14 cannot place its shadow under the address randomisation of recent kernels.
  [ "$preset" = tsan ] && setarch -R true 2>/dev/null && run=(setarch -R ctest)
  (
    cd "$root" || exit 1
    export UBSAN_OPTIONS=${UBSAN_OPTIONS-print_stacktrace=1}
    export LSAN_OPTIONS=${LSAN_OPTIONS-suppressions=$root/tests/leaks_of_others.txt:print_suppressions=0}
    "${run[@]}" --test-dir "build/$preset" --output-on-failure --no-tests=error --timeout 300 \
      -j "$jobs" "$@"
  )
}
