# Reads the expectations in a .cu file's comments (../README.md), for one architecture: "// WORD[90] kernel: item, item".
# Each of the other .awk files evaluates its own word. `compare` runs them.

function complain(text) {
  print text
  bad = 1
}

function trim(text) {
  gsub(/^[ \t]+|[ \t]+$/, "", text)
  return text
}

reading == "source" && /^\/\/ (PTX|ORDER|NEVER|PTXAS)(\[[0-9]+\])? / {
  line = $0
  sub(/^\/\/ /, "", line)
  word = substr(line, 1, match(line, /[^A-Z]/) - 1)
  for_arch = match(line, /^[A-Z]+\[/) ? substr(line, RLENGTH + 1, index(line, "]") - RLENGTH - 1) : arch
  sub(/^[^ ]+ /, "", line)
  kernel = trim(substr(line, 1, index(line, ":") - 1))
  described[kernel] = 1
  if (for_arch != arch) next
  ++expectations
  word_of[expectations] = word
  kernel_of[expectations] = kernel
  items_of[expectations] = substr(line, index(line, ":") + 1)
  place_of[expectations] = "line " FNR
}

END {
  if (expectations == 0) complain("no expectations found")
}
