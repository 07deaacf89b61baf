# "// PTXAS kernel: registers <= 40, stack <= 16": bounds for the figures that ptxas -v prints. No kernel may spill registers.
# "stack" is in bytes; a kernel that calls out-of-line functions has some.

reading == "ptxas" && /Compiling entry function / { compiled = substr($7, 2, length($7) - 2) }
reading == "ptxas" && /Function properties for / { of_function = $NF }
reading == "ptxas" && /bytes stack frame/ {
  used[of_function, "stack"] = $1
  if ($5 != 0 || $9 != 0) complain(of_function ": spills registers: " trim($0))
}
reading == "ptxas" && /Used [0-9]+ registers/ {
  match($0, /Used [0-9]+/)
  used[compiled, "registers"] = substr($0, RSTART + 5, RLENGTH - 5)
}

function check_bound(kernel, what, most) {
  if (!((kernel, what) in used)) complain("sm_" arch ", " kernel ": ptxas says nothing of its " what)
  else if (used[kernel, what] + 0 > most + 0)
    complain("sm_" arch ", " kernel ": " what " " used[kernel, what] ", expected <= " most)
}

END {
  for (e = 1; e <= expectations; ++e) {
    if (word_of[e] != "PTXAS") continue
    parts = split(items_of[e], list, ",")
    for (i = 1; i <= parts; ++i) {
      words = split(trim(list[i]), item, /[ \t]+/)
      if (words == 3 && item[1] ~ /^(registers|stack)$/ && item[2] == "<=" && item[3] ~ /^[0-9]+$/) {
        check_bound(kernel_of[e], item[1], item[3])
      } else {
        complain(place_of[e] ": not 'registers <= N' or 'stack <= N': " list[i])
      }
    }
  }
}
