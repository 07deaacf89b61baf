"""Kernels of one PE: what the compiler refuses, and what is kept."""

import os
import pathlib
import tempfile

from pes import OnAllPes, main

import chime

ADD = "CHIME_KERNEL void add(double* sums, const double* more) { *sums += *more; }"
NO_CODE = ("-fsyntax-only",)


class Kernels(OnAllPes):
    def test_that_do_not_compile_say_what_the_compiler_says(self):
        with self.refused(chime.CompileError, "wrong:3:", "no_such_thing") as refusal:
            chime.kernel("\nCHIME_KERNEL void wrong(int* a) {\n  *a = no_such_thing; }", "wrong", flags=NO_CODE)
        self.assertEqual(1, refusal.error.status)
        with self.refused(chime.CompileError, "elsewhere"):
            chime.kernel(ADD, "elsewhere", flags=NO_CODE)
        with self.refused(chime.CompileError, "does not load", "nowhere"):
            chime.kernel("int nowhere(int);\nCHIME_KERNEL void lost(int* a) { *a = nowhere(1); }", "lost", flags=("-O0",))
        with self.refused(chime.InvalidError, "kernel's name"):
            chime.kernel(ADD, "add); system(")
        with self.refused(chime.UnsupportedError, "does not start"):
            chime.kernel(ADD, "add", compiler="/no/such/compiler")

    def test_are_compiled_once(self):
        with tempfile.TemporaryDirectory() as folder:
            # A compiler that counts, and whose result is a library that another one has made.
            made = chime.kernel(ADD, "add")._code.file
            log, compiler = pathlib.Path(folder, "log"), pathlib.Path(folder, "counts")
            compiler.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit\necho x >>{log}\nfor word; do :; done\ncp {made} "$word"\n')
            compiler.chmod(0o700)
            before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
            try:
                for flags, compilations in (((), 1), ((), 1), (("-DMORE",), 2), (("-DMORE",), 2)):
                    chime.kernel(ADD, "add", flags=flags, compiler=str(compiler))
                    self.assertEqual(compilations, len(log.read_text().split()))
                os.environ["XDG_CACHE_HOME"] = str(log)
                with self.refused(chime.SystemRefusedError, "XDG_CACHE_HOME"):
                    chime.kernel(ADD, "add")
            finally:
                os.environ.pop("XDG_CACHE_HOME")
                if before is not None:
                    os.environ["XDG_CACHE_HOME"] = before


if __name__ == "__main__":
    main()
