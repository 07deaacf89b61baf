#!/usr/bin/env python3
"""make_program.py cpp|c <output>: a program that uses every claimed name as programs do: through two nested macros, as ::name, by
using, pasted of two parts, as a pointer. It runs on the host: each name that C has is a symbol of libchime.so, too."""

import pathlib
import sys

import names

MACROS = """#define ONCE(NAME) NAME
#define TWICE(NAME) ONCE(NAME)
#define PASTE(FIRST, SECOND) FIRST##SECOND
"""

CPP = """// Made by tests/compat/make_program.py.
#include <nvshmem.h>
#include <nvshmemx.h>

#include <type_traits>

%(macros)s
namespace used {
%(used)s
}  // namespace used

// Four ways to say a name, and one function.
template <class A, class B, class C, class D>
constexpr bool are_one = std::is_pointer_v<A> && std::is_same_v<A, B> && std::is_same_v<A, C> && std::is_same_v<A, D>;
#define CHECK(NAME, FIRST, SECOND, ...) \\
  static_assert(are_one<decltype(&TWICE(NAME) __VA_ARGS__), decltype(&::NAME __VA_ARGS__), decltype(&used::NAME __VA_ARGS__), \\
                        decltype(&PASTE(FIRST, SECOND) __VA_ARGS__)>)
%(checks)s

int main() {
  return 0;
}
"""

C = """// Made by tests/compat/make_program.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <stdio.h>
#include <string.h>

%(macros)s
typedef void (*Function)(void);

static const struct {
  const char* name;
  Function by_macros, by_parts;
} kNames[] = {
%(entries)s
};

int main(void) {
  int failed = 0;
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    Function symbol = NULL;
    void* const found = dlsym(RTLD_DEFAULT, kNames[i].name);
    memcpy(&symbol, &found, sizeof(symbol));
    if (symbol != NULL && symbol == kNames[i].by_macros && symbol == kNames[i].by_parts) continue;
    fprintf(stderr, "%%s: %%s\\n", kNames[i].name, symbol ? "the symbol is another function" : "libchime.so has no such symbol");
    failed = 1;
  }
  return failed;
}
"""


def parts(name):
    first, _, second = name.rpartition("_")
    return f"{first}_", second


def cpp():
    claimed = names.claimed()
    return CPP % {
        "macros": MACROS,
        "used": "\n".join(f"using ::{name};" for name in claimed),
        "checks": "\n".join("CHECK({}, {}, {}, {});".format(name, *parts(name), "<>" if names.LAZY.match(name) else "")
                            for name in claimed),
    }


def c():
    claimed = [name for name in names.claimed() if names.is_of_c(name)]
    return C % {
        "macros": MACROS,
        "entries": "\n".join('    {{"{0}", (Function)TWICE({0}), (Function)PASTE({1}, {2})}},'.format(name, *parts(name))
                             for name in claimed),
    }


pathlib.Path(sys.argv[2]).write_text({"cpp": cpp, "c": c}[sys.argv[1]]())
