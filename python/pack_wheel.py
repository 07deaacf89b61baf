"""pack_wheel.py <build folder> <output folder>: packs the build's component `python` as a wheel, with pyproject.toml's metadata.

For machines without scikit-build-core. It needs Debian's python3-pyproject-metadata and python3-wheel, and Python 3.11.
"""

import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import tomllib

try:
    import pyproject_metadata
    import wheel.cli.pack  # noqa: F401
except ImportError as error:
    print(f"{error.name} is not installed (Debian: python3-pyproject-metadata, python3-wheel)", file=sys.stderr)
    sys.exit(77)

SOURCE = pathlib.Path(__file__).resolve().parent.parent


def version_of(build):
    """CMake's project version, from the build's cache."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_PROJECT_VERSION:STATIC="):
            return line.partition("=")[2]
    raise SystemExit(f"{build} has no CMake cache of a project with a version: configure it first")


def tag():
    """This interpreter and this machine; one wheel serves no other."""
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def knows_numpy_2(package):
    """Whether the extension does, by the pybind11 that it was compiled with."""
    program = f"import sys; sys.path.insert(0, {str(package)!r}); import _chime; print(_chime.knows_numpy_2)"
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip() == "True"


def write_metadata(info, version, most_numpy):
    with (SOURCE / "pyproject.toml").open("rb") as file:
        project = pyproject_metadata.StandardMetadata.from_pyproject(tomllib.load(file), SOURCE)
    project.version = version
    for requirement in project.dependencies:
        if requirement.name == "numpy":
            requirement.specifier &= most_numpy
    (info / "METADATA").write_bytes(bytes(project.as_rfc822()))
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: pack_wheel\nRoot-Is-Purelib: false\nTag: {tag()}\n")
    (info / "LICENSE").write_bytes((SOURCE / "LICENSE").read_bytes())


def main():
    build, output = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    version = version_of(build)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        subprocess.run(["cmake", "--install", build, "--component", "python", "--strip", "--prefix", tree], check=True, stdout=subprocess.DEVNULL)
        info = tree / f"chime_pgas-{version}.dist-info"
        info.mkdir()
        write_metadata(info, version, "" if knows_numpy_2(tree / "chime") else "<2")
        subprocess.run([sys.executable, "-m", "wheel", "pack", "--dest-dir", output, tree], check=True)


if __name__ == "__main__":
    main()
