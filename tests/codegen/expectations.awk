# Reads a .cu file and then its PTX; complains of every kernel whose instructions are not as the comments expect.
#   awk -v arch=80 -f expectations.awk kernels.cu kernels.ptx

function complain(text) {
  print text
  bad = 1
}

function trim(text) {
  gsub(/^[ \t]+|[ \t]+$/, "", text)
  return text
}

# ---- The .cu file: "// PTX[90] kernel: 1 st.release.sys.u64, 0 membar" -----------------------------------------

FNR == NR && /^\/\/ PTX(\[[0-9]+\])? / {
  for_arch = ""
  if (match($0, /\[[0-9]+\]/)) for_arch = substr($0, RSTART + 1, RLENGTH - 2)
  line = $0
  sub(/^\/\/ PTX(\[[0-9]+\])? /, "", line)
  kernel = trim(substr(line, 1, index(line, ":") - 1))
  described[kernel] = 1
  if (for_arch != "" && for_arch != arch) next
  parts = split(substr(line, index(line, ":") + 1), list, ",")
  for (i = 1; i <= parts; ++i) {
    words = split(trim(list[i]), word, /[ \t]+/)
    if (words != 2 || word[1] !~ /^[0-9]+\+?$/) {
      complain("line " FNR ": not '<count> <instruction>': " list[i])
      continue
    }
    ++expectations
    of_kernel[expectations] = kernel
    wanted[expectations] = word[1]
    instruction[expectations] = word[2]
  }
}
FNR == NR { next }

# ---- The PTX -------------------------------------------------------------------------------------------------------

/^\.extern \.func/ {
  if ($0 !~ /__assertfail/) complain("calls a function that is not inlined: " $0)
}
# What PEs that are not mapped take is out of line (device/unmapped.cuh, device/path/nic): not the kernel's.
/^(\.visible |\.weak )*\.func/ {
  if ($0 !~ /N5chime(3nic|8unmapped)/) complain("a function is not inlined: " $0)
  kernel = "out of line"
  next
}

/\.entry / {
  kernel = $0
  sub(/.*\.entry /, "", kernel)
  sub(/\(.*/, "", kernel)
  kernel = trim(kernel)
  seen[kernel] = 1
  if (!(kernel in described)) complain(kernel ": no line '// PTX " kernel ": ...' says what to expect")
  next
}

# Declarations have no type in front of .local; instructions have .local in their opcode.
kernel != "out of line" && (/^[ \t]*\.local / || /(ld|st)\.local/) { complain(kernel ": uses local memory: " trim($0)) }

/^[ \t]*(@!?%p[0-9]+ +)?[a-z]/ {
  text = trim($0)
  sub(/^@!?%p[0-9]+[ \t]+/, "", text)
  lines[kernel] = lines[kernel] "\n" text
}

function count(kernel, start,    number, i, list, found) {
  number = split(lines[kernel], list, "\n")
  found = 0
  for (i = 1; i <= number; ++i)
    if (index(list[i], start) == 1) ++found
  return found
}

END {
  if (expectations == 0) complain("no expectations found")
  for (kernel in described)
    if (!(kernel in seen)) complain(kernel ": there is no such kernel in the PTX")
  for (i = 1; i <= expectations; ++i) {
    found = count(of_kernel[i], instruction[i])
    least = wanted[i] + 0
    if (wanted[i] ~ /\+$/ ? found < least : found != least)
      complain("sm_" arch ", " of_kernel[i] ": " found " of " instruction[i] ", expected " wanted[i])
  }
  exit bad
}
