# Reads the output of cuobjdump -sass. ptxas accepts some instructions for GPUs that lack them; the machine code is then illegal.
# A generic atomic asks at run time (QSPC) in which address space its word lies; all words of Chime's atomics are global.

reading == "machine_code" && /^(nvdisasm|cuobjdump) (error|fatal)/ { complain("sm_" arch ", machine code: " $0) }
reading == "machine_code" && /^[ \t]*Function : / {
  of_function = $NF
  has_machine_code[of_function]
}
reading == "machine_code" && /QSPC/ { complain("sm_" arch ", " of_function ": asks for an address space: " trim($0)) }

END {
  for (kernel in described)
    if (!(kernel in has_machine_code)) complain("sm_" arch ", " kernel ": there is no machine code of it")
}
