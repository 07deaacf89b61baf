#!/bin/bash
# wheel_test.sh packed|pip <python> <build folder> <source folder> <scratch folder>: the wheel, packed from the build or built by pip from the sources,
# is installed to a fresh environment, which is then moved, and runs the ring and a kernel there; of a build with the softgpu also kernels in CUDA's words.
set -eu
way=$1 python=$2 build=$3 source=$4 scratch=$5
skip() { echo "skipped: $*"; exit 77; }
has() { "$python" -c "import $1" 2>/dev/null; }
has ensurepip || skip "$python makes no environments (Debian: python3-venv)"
has pip || skip "$python has no pip (Debian: python3-pip)"
rm -rf "$scratch" && mkdir -p "$scratch"
cd "$scratch"
unset PYTHONPATH LD_LIBRARY_PATH
has_softgpu=OFF
! grep -qx 'CHIME_SOFTGPU:BOOL=ON' "$build/CMakeCache.txt" || has_softgpu=ON

case $way in
  packed) "$python" "$source/python/pack_wheel.py" "$build" dist || exit $? ;;
  pip)
    has scikit_build_core || skip "$python has no scikit-build-core (Debian 13: python3-scikit-build-core)"
    # It packs, and does not compute: compiled soon.
    "$python" -m pip wheel -q --no-build-isolation --no-deps --no-index --wheel-dir dist --config-settings "cmake.define.CHIME_SOFTGPU=$has_softgpu" \
      --config-settings cmake.define.CMAKE_CXX_FLAGS_RELEASE=-O0 "$source" ;;
esac

"$python" -m venv --system-site-packages made
made/bin/python -m pip install -q --no-index --no-deps dist/chime_pgas-*.whl
mv made moved
PATH=$scratch/moved/bin:$PATH

fail() { echo "$*"; exit 1; }
interpreter=cp$(python -c 'import sys; print("%d%d" % sys.version_info[:2])')
[[ $(ls dist) == chime_pgas-*-"$interpreter-$interpreter"-linux_* ]] || fail "the wheel's name does not say that it is for $interpreter alone: $(ls dist)"
package=$(python -c 'import chime; print(chime.__path__[0])')
for file in "$source"/python/chime/{*.py,*.pyi,*.hpp,py.typed}; do
  [ -e "$package/${file##*/}" ] || fail "the wheel lacks $file"
done
version=$(python -c 'import importlib.metadata; print(importlib.metadata.version("chime-pgas"))')
knows_numpy_2=$(python -c 'import chime._chime; print(chime._chime.knows_numpy_2)')
python -c 'import importlib.metadata, sys; sys.exit(("<2" in str(importlib.metadata.requires("chime-pgas"))) == (sys.argv[1] == "True"))' "$knows_numpy_2" ||
  fail "the wheel's extension says that it knows numpy 2: $knows_numpy_2; the wheel wants $(python -c 'import importlib.metadata; print(importlib.metadata.requires("chime-pgas"))')"
[ "$(python -c 'import chime; print(chime.__version__)')" = "$version" ] || fail "chime.__version__ is not the wheel's version $version"
for tool in chime-run chime-info chime-doctor chime-trace; do
  [ "$(command -v $tool)" = "$scratch/moved/bin/$tool" ] || fail "the wheel brings no $tool: $(command -v $tool)"
done
for tool in chime-info chime-doctor; do
  [ "$($tool --version)" = "$tool $version" ] || fail "$tool --version prints '$($tool --version)', and the wheel is $version"
done

ring() { timeout 60 "$@" python -m chime.examples.ring; }
ring chime-run -n 4 >ring.txt || fail "the ring has failed: $(cat ring.txt)"
grep -q 'PE 3 of 4: got 2000 to 3023 from PE 2' ring.txt || fail "the ring has said: $(cat ring.txt)"
if command -v mpirun >/dev/null; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  ring mpirun --oversubscribe --bind-to none -n 2 >mpi.txt || fail "the ring under mpirun has failed: $(cat mpi.txt)"
  grep -q 'PE 1 of 2: got 0 to 1023 from PE 0' mpi.txt || fail "the ring under mpirun has said: $(cat mpi.txt)"
  if [ -e "$build/host/libchime_mpi.so" ] && python -c 'import mpi4py' 2>/dev/null; then
    timeout 60 mpirun --oversubscribe --bind-to none -n 2 python "$source/python/tests/jobs_test.py" takes_a_communicator_of_mpi4py ||
      fail "init(comm=...) has failed"
  fi
fi

# A kernel for the CPU device, by what lies in the environment alone.
CHIME_DEVICE=cpu timeout 120 chime-run --no-prefix -n 2 python "$source/tests/install/python_package.py" "$scratch/moved" >kernel.txt ||
  fail "the kernel has failed: $(cat kernel.txt)"
grep -q 'PE 1 of 2: a kernel on cpu told it 100' kernel.txt || fail "the kernel has said: $(cat kernel.txt)"

# A kernel in CUDA's words from its text, and a program, by what lies in the environment alone.
softgpu() {
  local folder library outside=()
  [ -e "$package/include/softgpu/vocabulary/vocabulary.hpp" ] || fail "the wheel lacks what the softgpu compiles kernels with"  # it would take the build's
  CHIME_DEVICE=cuda timeout 250 chime-run -n 2 python "$source/python/tests/kernels_gpu_test.py" || fail "kernels on the softgpu have failed"
  [ "$(command -v chime-cc)" = "$scratch/moved/bin/chime-cc" ] || fail "the wheel brings no chime-cc: $(command -v chime-cc)"
  echo '__global__ void none() {} int main() { none<<<1, 1>>>(); return cudaDeviceSynchronize(); }' >none.cu
  chime-cc --show none.cu -o none 2>said || fail "chime-cc fails: $(cat said)"
  for folder in host arrows softgpu softgpu_toolkit tools; do outside+=(-e "$build/$folder"); done
  for folder in include device softgpu tools; do outside+=(-e "$source/$folder"); done
  ! grep -F "${outside[@]}" said || fail "chime-cc takes files from outside the environment"
  for library in libchime.so libsoftgpu.so; do
    ldd none | grep -F $library | grep -qF "$package/lib/" || fail "the program does not load the wheel's $library: $(ldd none)"
  done
  timeout 250 ./none || fail "the program of chime-cc has failed"
}
no_softgpu() {
  [ ! -e moved/bin/chime-cc ] || fail "the wheel brings a chime-cc without the softgpu"
}
case $has_softgpu in ON) softgpu ;; OFF) no_softgpu ;; esac

# Everything of Chime's that the process has loaded, and every folder that a file of the wheel names for its libraries: none lies outside of the
# environment, and the package's files name the package's alone.
[ $has_softgpu = OFF ] || export CHIME_DEVICE=cuda
python - "$scratch/moved" <<'END'
import os, pathlib, subprocess, sys
import chime
home = sys.argv[1]
chime.init()
names = {line.split()[-1] for line in open("/proc/self/maps")}
loaded = {name for name in names if pathlib.Path(name).name.startswith(("_chime", "libchime", "libsoftgpu"))}
assert any("libchime.so" in name for name in loaded), loaded
assert any("libsoftgpu.so" in name for name in loaded) == (chime.device() == "cuda"), loaded
outside = [name for name in loaded if not name.startswith(home)]
assert not outside, f"loaded from outside the environment: {outside}"
package = pathlib.Path(chime.__file__).parent

def folders_of(file):
    dynamic = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    paths = [line.partition("[")[2].rstrip("]") for line in dynamic.splitlines() if "PATH)" in line]
    return [pathlib.Path(os.path.normpath(one.replace("$ORIGIN", str(file.parent)))) for path in paths for one in path.split(":")]

def expect_within(folder, file):
    assert all(one.is_relative_to(folder) for one in folders_of(file)), f"{file} looks for libraries in {folders_of(file)}"

for file in package.rglob("*.so*"):
    expect_within(package, file)
for tool in ("chime-run", "chime-info", "chime-doctor", "chime-trace"):
    expect_within(home, pathlib.Path(home, "bin", tool))
extension, = package.glob("_chime*.so")
assert folders_of(extension) == [package / "lib"], folders_of(extension)
chime.finalize()
END
echo "the wheel of $version runs: $(ls dist)"
