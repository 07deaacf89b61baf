#!/usr/bin/env python3
"""names_test.py <compiler> <include folders, separated by semicolons>...: nvshmem.h has each claimed name (nvshmem.names less missing.names), none of the
missing ones, and no other name of NVSHMEM's shape. The compiler's preprocessor says what it has. The READMEs say how many names these are."""

import re
import subprocess
import sys

import names

# The files that state the number of names, and how.
COUNTS = {"README.md": "{} of NVSHMEM's {} names", "include/compat/README.md": "{} of the {} names"}
# Beside the names: types, constants, a struct's tag.
OTHERS = {"nvshmem_team_t", "nvshmemx_team_t", "nvshmemx_status", "nvshmemx_uniqueid_v1", "nvshmemx_uniqueid_t",
          "nvshmemx_uniqueid_args_v1", "nvshmemx_uniqueid_args_t", "nvshmemx_init_args_v2", "nvshmemx_init_args_t",
          "nvshmemx_collective_launch_attr_t", "nvshmemx_smem_amount_t", "nvshmemx_region_handle_t",
          "nvshmemx_region_hint_t", "nvshmemx_region_attrs", "nvshmemx_region_attrs_t", "nvshmemx_init_attr_v2", "nvshmemx_init_attr_t", "nvshmemx_cmp_type", "nvshmemx_cmp_type_t", "nvshmemx_signal_op_t",
          "nvshmemx_thread_support", "nvshmemx_thread_support_t", "nvshmemx_init_status_t", "nvshmem_pe_index_t",
          "nvshmemx_team_uniqueid_t", "nvshmem_team_config_v2", "nvshmem_team_config_t"}


def had(compiler, folders):
    command = [compiler, "-std=c++20", "-x", "c++", "-E", *(f"-I{folder}" for folder in folders), "-"]

    def run(*more):
        return subprocess.run(command + list(more), input="#include <nvshmemx.h>\n", text=True, capture_output=True,
                              check=True).stdout

    code = re.sub(r'"[^"\n]*"', "", run("-P"))
    functions = set(re.findall(r"\bnvshmemx?_\w+", code))
    macros = set(re.findall(r"^#define (nvshmemx?_\w+) \w+$", run("-dM"), re.M))
    return functions | macros


def main():
    folders = ";".join(sys.argv[2:]).split(";")
    found, claimed, every = had(sys.argv[1], folders), set(names.claimed()), set(names.all_names())
    problems = [f"{name} is claimed, and nvshmem.h has it not" for name in sorted(claimed - found)]
    problems += [f"{name} is there, and missing.names says it is not" for name in sorted((every - claimed) & found)]
    problems += [f"{name} is no name of NVSHMEM's" for name in sorted(found - every - OTHERS)]
    for pattern, reason in names.missing():
        if not any(re.fullmatch(pattern, name) for name in every):
            problems.append(f"missing.names: {pattern} ({reason}) matches no name")
    for page, words in COUNTS.items():
        count = words.format(len(claimed), len(every))
        if count not in (names.HERE.parents[1] / page).read_text():
            problems.append(f"{page} does not say '{count}'")
    print("\n".join(problems))
    print(f"{len(claimed)} of {len(every)} names")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
