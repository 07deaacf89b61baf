# Reads the kernels' PTX: code[kernel, i], for i from 1 to length_of[kernel], is an instruction with its predicate, or a
# label. Complains about code that no kernel may have.

reading == "ptx" && /^\.extern \.func/ {
  if ($0 !~ /__assertfail/) complain("calls a function that is not inlined: " $0)
}
# A group's transfer is a function of its own (device/forms.cuh). Each call of it counts as its code in the kernel.
function is_transfer(text) { return text ~ /[0-9](chimex|nvshmemx)_[a-z0-9_]+_(warp|block)E/ }

reading == "ptx" && /^\.func _Z/ && is_transfer($0) {
  kernel = $2
  sub(/\(.*/, "", kernel)
  next
}
reading == "ptx" && /^[ \t]*_Z[A-Za-z0-9_]+, *$/ && is_transfer($0) {
  sub(/, *$/, "")
  code[kernel, ++length_of[kernel]] = "calls " trim($0)
  next
}

# Code for PEs that are not mapped (device/channel, device/path, device/route.cuh) and for checked jobs is out of line: it is not
# the kernel's. Nor are the library's combine loops of all types, of which it has one copy, and
# their arithmetic of long double and complex numbers (host/ops/collectives).
reading == "ptx" && /^(\.visible |\.weak )*\.func/ {
  if ($0 !~ /NK?5chime(4host14CombineAsAsked|4host(ne|pl|ml|lt)ENS0_8Extended|4hostmlI[fd]EENS0_7Complex|3nic|4fifo|7staging|7channel|6detail|10fail_route|13passes_checks|17check_bounds_here|13trap_unfilled)/) complain("a function is not inlined: " $0)
  kernel = "out of line"
  next
}

# The driver finds a unit's other kernels by this one (device/registration_cuda.cuh), which is never launched.
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

# Declarations begin with .local; instructions have .local in their opcode.
reading == "ptx" && kernel != "out of line" && (/^[ \t]*\.local / || /(ld|st)\.local/) {
  complain(kernel ": uses local memory: " trim($0))
}

reading == "ptx" && (/^[ \t]*(@!?%p[0-9]+ +)?[a-z]/ || /^\$[A-Za-z0-9_$]+:/) {
  code[kernel, ++length_of[kernel]] = trim($0)
}

# Replaces the i-th instruction of `kernel`, a call of `callee`, by the callee's code. Its labels get the call's number; its
# returns jump behind the code.
function take_in(kernel, callee, i,    j, text) {
  for (j = 1; j <= length_of[callee]; ++j) {
    text = code[callee, j]
    if (text ~ /^calls /) complain(callee ": calls another transfer, which is not read here")
    sub(/(^|[ \t])ret;/, " bra $behind_" i ";", text)
    gsub(/\$L__BB[0-9]+_[0-9]+/, "&_of_" i, text)
    code[kernel, ++length_of[kernel]] = trim(text)
  }
  code[kernel, ++length_of[kernel]] = "$behind_" i ":"
}
function take_in_transfers(kernel,    own, i, n) {
  n = length_of[kernel]
  for (i = 1; i <= n; ++i) own[i] = code[kernel, i]
  length_of[kernel] = 0
  for (i = 1; i <= n; ++i) {
    if (own[i] ~ /^calls /) take_in(kernel, substr(own[i], 7), i)
    else code[kernel, ++length_of[kernel]] = own[i]
  }
}

END {
  for (kernel in seen) take_in_transfers(kernel)
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
