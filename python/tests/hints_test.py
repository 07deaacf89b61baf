"""hints_test.py says|types: every public name says its types, arguments and errors; mypy finds the package and its users consistent."""

import ast
import inspect
import pathlib
import re
import subprocess
import sys
import tempfile

import chime

faults = []


def wanted(condition, words):
    if not condition:
        faults.append(words)


def check_function(name, function):
    text = function.__doc__ or ""
    wanted(text, f"{name} has no docstring")
    wanted("Raises" in text, f"{name} does not say what it raises")
    signature = inspect.signature(function)
    wanted(signature.return_annotation is not inspect.Signature.empty, f"{name} does not say what it returns")
    for parameter in list(signature.parameters.values())[1 if "." in name and next(iter(signature.parameters), "") == "self" else 0 :]:
        wanted(parameter.annotation is not inspect.Parameter.empty, f"{name}: {parameter.name} has no type")
        row = rf"^ +(\w+, )*{parameter.name}(, \w+)* +\S"
        wanted(re.search(row, text, re.MULTILINE), f"{name}: the docstring has no row of {parameter.name}")


def check_class(name, kind):
    wanted(kind.__doc__, f"{name} has no docstring")
    for member, value in vars(kind).items():
        if isinstance(value, property):
            wanted(value.fget.__doc__, f"{name}.{member} has no docstring")
            wanted("return" in value.fget.__annotations__, f"{name}.{member} does not say its type")
        elif inspect.isfunction(value) and member.startswith("__"):
            wanted("return" in value.__annotations__, f"{name}.{member} does not say what it returns")
        elif inspect.isfunction(value) and not member.startswith("_"):
            check_function(f"{name}.{member}", value)


def says():
    for name in chime.__all__:
        wanted(hasattr(chime, name), f"there is no {name}, which __all__ names")
    shown = {name for name, value in vars(chime).items() if not name.startswith("_") and not inspect.ismodule(value)}
    shown |= {"Kernel", "Launch", "kernel"}  # imported when they are named
    wanted(shown == set(chime.__all__), f"__all__ and the package differ in {sorted(shown ^ set(chime.__all__))}")
    for name in chime.__all__:
        value = getattr(chime, name)
        if inspect.isclass(value):
            check_class(name, value)
        elif inspect.isfunction(value):
            check_function(name, value)
    wanted(len(chime.__all__) > 50, "there are hardly any names")
    # pybind11's functions have no signatures that could be compared.
    stub = ast.parse(pathlib.Path(chime.__file__).with_name("_chime.pyi").read_text())
    hinted = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    hinted |= {node.target.id for node in stub.body if isinstance(node, ast.AnnAssign)}
    there = {name for name in vars(chime._chime) if not name.startswith("_")}
    wanted(hinted == there, f"_chime.pyi and the extension differ in {sorted(hinted ^ there)}")


RIGHT = """
import numpy as np
import chime

with chime.init(settings={"CHIME_SYMMETRIC_SIZE": "1M"}) as job:
    with chime.zeros((4, 4), np.float32) as plate, chime.Stream() as stream:
        chime.put(plate[:, 0], plate[:, -2], (job.my_pe + 1) % job.n_pes, stream=stream)
        chime.WORLD.reduce(plate, plate, "max")
        seen: int = chime.signal_wait(chime.zeros(1, np.uint64), "==", 1, timeout=1)
        total: float = plate.np.sum()
"""
WRONG = [
    ("chime.put([1.0], 2.0, 0)", 'Argument 1 to "put" has incompatible type'),
    ("chime.zeros(4).no_such", 'has no attribute "no_such"'),
    ("chime.barrier(timeout='long')", 'Argument "timeout" to "barrier"'),
    ("pe: str = chime.my_pe()", "Incompatible types in assignment"),
]


def types():
    if subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode != 0:
        print("skipped: mypy is not installed (Debian: mypy)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        right, wrong = pathlib.Path(folder, "right.py"), pathlib.Path(folder, "wrong.py")
        right.write_text(RIGHT)
        wrong.write_text("import chime\n" + "".join(line + "\n" for line, _ in WRONG))
        # The interpreter's numpy, and this package as the build has it. One run, for numpy's hints take long to read.
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", f"{folder}/cache", "chime", right, wrong],
                              capture_output=True, text=True, cwd=pathlib.Path(chime.__file__).parent.parent)
        found = [line for line in done.stdout.splitlines() if ": error: " in line]
        wanted(found or done.returncode == 1, f"mypy has ended with {done.returncode}: {done.stdout}{done.stderr}")
        for number, (line, words) in enumerate(WRONG, start=2):
            right_one = [text for text in found if f"wrong.py:{number}:" in text and words in text]
            wanted(right_one, f"mypy takes {line}")
            found = [text for text in found if text not in right_one]
        faults.extend(found)


if __name__ == "__main__":
    {"says": says, "types": types}[sys.argv[1]]()
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
