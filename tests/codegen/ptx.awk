# The PTX of the kernels: code[kernel, i], for i from 1 to length_of[kernel], is an instruction with its predicate, or a
# label. Complains of what no kernel may have.

reading == "ptx" && /^\.extern \.func/ {
  if ($0 !~ /__assertfail/) complain("calls a function that is not inlined: " $0)
}
# What PEs that are not mapped take is out of line (device/channel, device/path, device/route.cuh), and what checked jobs do: not the
# kernel's.
reading == "ptx" && /^(\.visible |\.weak )*\.func/ {
  if ($0 !~ /N5chime(3nic|4fifo|7staging|7channel|6detail|10fail_route|13passes_checks|17check_bounds_here|13trap_unfilled)/) complain("a function is not inlined: " $0)
  kernel = "out of line"
  next
}

# By it the driver finds a unit's other kernels (device/registration_cuda.cuh): nobody launches it.
reading == "ptx" && /\.entry .*12kernel_of_tu/ {
  kernel = "of no file"
  next
}
reading == "ptx" && /\.entry / {
  kernel = $0
  sub(/.*\.entry /, "", kernel)
  sub(/\(.*/, "", kernel)
  kernel = trim(kernel)
  seen[kernel] = 1
  if (!(kernel in described)) complain(kernel ": no line '// PTX " kernel ": ...' or the like says what to expect")
  next
}

# Declarations have no type in front of .local; instructions have .local in their opcode.
reading == "ptx" && kernel != "out of line" && (/^[ \t]*\.local / || /(ld|st)\.local/) {
  complain(kernel ": uses local memory: " trim($0))
}

reading == "ptx" && (/^[ \t]*(@!?%p[0-9]+ +)?[a-z]/ || /^\$[A-Za-z0-9_$]+:/) {
  code[kernel, ++length_of[kernel]] = trim($0)
}

END {
  for (kernel in described)
    if (!(kernel in seen)) complain(kernel ": there is no such kernel in the PTX")
}

# ---- Questions about an instruction ----

function is_conditional(text) { return text ~ /^@/ }

function without_predicate(text) {
  sub(/^@!?%p[0-9]+[ \t]+/, "", text)
  return text
}

function begins_with(text, start) { return index(without_predicate(text), start) == 1 }
