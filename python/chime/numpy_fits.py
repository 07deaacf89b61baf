"""Whether the extension can read the arrays of the numpy that is installed."""


def require(numpy_version: str, knows_numpy_2: bool) -> None:
    """Raises ImportError where it cannot: pybind11 before 2.12 reads types as numpy 1 lays them out.

    Args:
      numpy_version  numpy.__version__
      knows_numpy_2  what the extension says of the pybind11 that it was compiled with
    """
    if knows_numpy_2 or int(numpy_version.split(".")[0]) < 2:
        return
    raise ImportError(f"this build of chime knows numpy 1 alone, and numpy {numpy_version} is installed: pip install 'numpy<2', or build chime by "
                      "pip install . with PyPI's pybind11, which knows both")
