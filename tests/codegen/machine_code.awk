# The words of cuobjdump -sass. ptxas takes some instructions for GPUs that have no such instruction, and what it makes of them
# is illegal. A generic atomic asks at run time (QSPC) in which address space the word lies: all of Chime's are global.

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
