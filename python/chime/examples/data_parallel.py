"""Training steps of a small network, the batch shared by the PEs: chime-run -n 4 python -m chime.examples.data_parallel --validate

Each PE has the whole network and a part of the batch. Gradients are summed by reduce, in two buckets: the output layer's travel on a stream while the
hidden layer's are computed. --torch computes them by torch's autograd, in tensors that are views of symmetric memory.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Tuple

import numpy as np

import chime

if TYPE_CHECKING:
    from numpy.typing import NDArray

INPUTS, HIDDEN, OUTPUTS = 12, 32, 3
RATE = 0.05
Parameters = Dict[str, Any]
# In the order in which the backward pass has them.
BUCKETS: Tuple[Dict[str, Tuple[int, ...]], ...] = (
    {"w2": (HIDDEN, OUTPUTS), "b2": (OUTPUTS,)},
    {"w1": (INPUTS, HIDDEN), "b1": (HIDDEN,)},
)


def first_parameters(seed: int) -> Parameters:
    """The same on every PE, for all have the same seed."""
    random = np.random.default_rng(seed)
    return {name: 0.3 * random.standard_normal(shape) for bucket in BUCKETS for name, shape in bucket.items()}


def batch_of(seed: int, step: int, size: int) -> Tuple[NDArray[Any], NDArray[Any]]:
    """Inputs, and what the network shall say of them."""
    random = np.random.default_rng((seed, step))
    x = random.standard_normal((size, INPUTS))
    return x, np.stack([np.sin(x[:, 0]), x[:, 1] * x[:, 2], np.tanh(x.sum(axis=1))], axis=1)


class Bucket:
    """Gradients that one reduce sums: one symmetric array for this PE's, and one for the sums."""

    def __init__(self, shapes: Dict[str, Tuple[int, ...]]) -> None:
        self.shapes = shapes
        size = sum(int(np.prod(shape)) for shape in shapes.values())
        self.mine, self.sums = chime.zeros(size), chime.zeros(size)

    def parts(self, memory: Any) -> Parameters:
        """Each gradient's part of a flat array or tensor."""
        parts, begin = {}, 0
        for name, shape in self.shapes.items():
            end = begin + int(np.prod(shape))
            parts[name] = memory[begin:end].reshape(shape)
            begin = end
        return parts

    def fill(self, memory: Any, gradients: List[Any]) -> None:
        for part, gradient in zip(self.parts(memory).values(), gradients):
            part[...] = gradient

    def descend(self, parameters: Parameters) -> None:
        for name, gradient in self.parts(self.sums.np).items():
            parameters[name] = parameters[name] - RATE * gradient

    def free(self) -> None:
        self.mine.free()
        self.sums.free()


Gradients = Callable[[Parameters, Any, Any, int], Iterator[List[Any]]]


def numpy_gradients(p: Parameters, x: Any, y: Any, batch: int) -> Iterator[List[Any]]:
    """The gradients of half the mean square error, over this PE's part of the data, bucket by bucket."""
    hidden = np.tanh(x @ p["w1"] + p["b1"])
    error = (hidden @ p["w2"] + p["b2"] - y) / batch
    yield [hidden.T @ error, error.sum(axis=0)]
    back = (error @ p["w2"].T) * (1 - hidden**2)
    yield [x.T @ back, back.sum(axis=0)]


def torch_gradients(p: Parameters, x: Any, y: Any, batch: int) -> Iterator[List[Any]]:
    torch: Any = importlib.import_module("torch")
    leaves = {name: torch.tensor(value, requires_grad=True) for name, value in p.items()}
    hidden = torch.tanh(torch.from_numpy(x) @ leaves["w1"] + leaves["b1"])
    loss = ((hidden @ leaves["w2"] + leaves["b2"] - torch.from_numpy(y)) ** 2).sum() / (2 * batch)
    for bucket in BUCKETS:
        yield list(torch.autograd.grad(loss, [leaves[name] for name in bucket], retain_graph=bucket is not BUCKETS[-1]))


def torch_memory(array: chime.Array) -> Any:
    return importlib.import_module("torch").from_dlpack(array)


def train(gradients: Gradients, memory_of: Callable[[chime.Array], Any], seed: int, steps: int, batch: int) -> Parameters:
    """The parameters after some steps: the same on every PE."""
    me, n = chime.my_pe(), chime.n_pes()
    share = slice(batch * me // n, batch * (me + 1) // n)
    parameters, buckets = first_parameters(seed), [Bucket(shapes) for shapes in BUCKETS]
    with chime.Stream() as stream:
        for step in range(steps):
            x, y = batch_of(seed, step, batch)
            for bucket, values in zip(buckets, gradients(parameters, x[share], y[share], batch)):
                bucket.fill(memory_of(bucket.mine), values)
                chime.WORLD.reduce(bucket.sums, bucket.mine, stream=stream)  # while the next bucket is computed
            stream.synchronize()
            for bucket in buckets:
                bucket.descend(parameters)
    for bucket in buckets:
        bucket.free()
    return parameters


def loss_of(p: Parameters, x: Any, y: Any) -> float:
    return float(0.5 * np.mean(np.sum((np.tanh(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"] - y) ** 2, axis=1)))


def serial(seed: int, steps: int, batch: int) -> Parameters:
    """The same by one process, sample by sample: derivatives of each weight by the chain rule in indices."""
    w1, b1, w2, b2 = (np.array(first_parameters(seed)[name]) for name in ("w1", "b1", "w2", "b2"))
    for step in range(steps):
        d1, e1, d2, e2 = (np.zeros_like(value) for value in (w1, b1, w2, b2))
        for sample, target in zip(*batch_of(seed, step, batch)):
            h = np.array([np.tanh(b1[j] + np.dot(w1[:, j], sample)) for j in range(HIDDEN)])
            wrong = np.array([b2[k] + np.dot(w2[:, k], h) - target[k] for k in range(OUTPUTS)])
            for k in range(OUTPUTS):
                d2[:, k] += wrong[k] * h / batch
                e2[k] += wrong[k] / batch
            for j in range(HIDDEN):
                slope = np.dot(w2[j], wrong) / np.cosh(b1[j] + np.dot(w1[:, j], sample)) ** 2 / batch
                d1[:, j] += slope * sample
                e1[j] += slope
        w1, b1, w2, b2 = w1 - RATE * d1, b1 - RATE * e1, w2 - RATE * d2, b2 - RATE * e2
    return {"w1": w1, "b1": b1, "w2": w2, "b2": b2}


def main() -> None:
    parser = argparse.ArgumentParser(prog="chime.examples.data_parallel", description="Training steps, the batch shared by the PEs.")
    parser.add_argument("--steps", type=int, default=5, help="training steps")
    parser.add_argument("--batch", type=int, default=64, help="samples of a step, of all PEs together")
    parser.add_argument("--seed", type=int, default=1, help="of parameters and samples")
    parser.add_argument("--torch", action="store_true", help="compute the gradients by torch")
    parser.add_argument("--validate", action="store_true", help="compare with one process's steps")
    options = parser.parse_args()
    if options.torch:
        try:
            importlib.import_module("torch")
        except ImportError:
            print("skipped: torch is not installed (Debian: python3-torch)")
            sys.exit(77)
    if options.steps < 0 or options.batch < 1:
        parser.error("--steps is not negative, and --batch at least 1")
    with chime.init() as job:
        x, y = batch_of(options.seed, options.steps, 512)  # which no step sees
        before = loss_of(first_parameters(options.seed), x, y)
        gradients, memory_of = (torch_gradients, torch_memory) if options.torch else (numpy_gradients, lambda array: array.np)
        trained = train(gradients, memory_of, options.seed, options.steps, options.batch)
        words = f"{job.n_pes} PEs, {options.steps} steps of {options.batch} samples: loss {before:.6f} to {loss_of(trained, x, y):.6f}"
        if options.validate:
            expected = serial(options.seed, options.steps, options.batch)
            difference = max(float(np.abs(trained[name] - expected[name]).max()) for name in expected)
            words += f", parameters {difference:.1e} from one process's"
            if not difference <= 1e-12:
                print(words)
                sys.exit("the parameters differ")
        if job.my_pe == 0:
            print(words)


if __name__ == "__main__":
    main()
