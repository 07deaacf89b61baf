"""Kernels of one PE: what the compiler refuses, and what is kept."""

import os
import pathlib
import tempfile
from unittest import mock

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

    def test_are_compiled_again_when_something_changes(self):
        made = chime.kernel(ADD, "add")._code.file
        with tempfile.TemporaryDirectory() as name, mock.patch.dict(os.environ, XDG_CACHE_HOME=name):
            folder = pathlib.Path(name, "a #$ folder")
            folder.mkdir()
            log, header, later, compiler = (folder / file for file in ("log", "scale.h", "later", "counts"))
            # A compiler that counts, reads what is included, and copies a library that another one has made. It may edit the header, as a user may meanwhile.
            compiler.write_text(f'''#!/bin/sh
[ "$1" = --version ] && exit
cd '{folder}'
echo x >>log
[ -e later ] && sleep 0.1 && cat later >scale.h && rm later
{os.environ.get("CXX", "c++")} "$@" -E
for word; do :; done
cp {made} "$word"
''')
            compiler.chmod(0o700)

            def compiled(compilations, *flags, compiler=str(compiler)):
                file = chime.kernel(f'#include "scale.h"\n{ADD}', "add", flags=(f"-I{folder}", *flags), compiler=compiler)._code.file
                self.assertEqual(compilations, len(log.read_text().split()))
                return file

            header.write_text("// 1\n")
            first = compiled(1)
            self.assertEqual(first, compiled(1))
            header.write_text("// two\n")
            self.assertNotEqual(first, compiled(2))
            header.write_text("// 1\n")
            self.assertEqual(first, compiled(2))
            compiled(3, "-DMORE")
            compiled(3, "-DMORE")
            header.write_text("// 3\n")
            later.write_text("// 4, four\n")
            fourth = compiled(5)
            self.assertEqual(fourth, compiled(5))
            with mock.patch.dict(os.environ, CXX=f"env LC_ALL=C '{compiler}'"):  # as ccache g++
                compiled(6, "-DOTHER", compiler=None)
            with mock.patch.dict(os.environ, XDG_CACHE_HOME=str(log)), self.refused(chime.SystemRefusedError, "XDG_CACHE_HOME"):
                chime.kernel(ADD, "add")

    def test_want_a_compiler_that_is_there(self):
        for named, words in (("/no/such/compiler -O3", "CXX names the compiler /no/such/compiler, which is not found"), ('g++ "', "no closing quotation")):
            with mock.patch.dict(os.environ, CXX=named), self.refused(chime.UnsupportedError, words):
                chime.kernel(ADD, "add")


if __name__ == "__main__":
    main()
