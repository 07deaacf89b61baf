# "// PTX kernel: 1 st.release.sys, 2+ ld., 0 membar": how many instructions of the kernel begin with these words.

function count(kernel, start,    i, found) {
  found = 0
  for (i = 1; i <= length_of[kernel]; ++i)
    if (begins_with(code[kernel, i], start)) ++found
  return found
}

function check_count(kernel, wanted, start,    found, least) {
  found = count(kernel, start)
  least = wanted + 0
  if (wanted ~ /\+$/ ? found < least : found != least)
    complain("sm_" arch ", " kernel ": " found " of " start ", expected " wanted)
}

END {
  for (e = 1; e <= expectations; ++e) {
    if (word_of[e] != "PTX") continue
    parts = split(items_of[e], list, ",")
    for (i = 1; i <= parts; ++i) {
      words = split(trim(list[i]), item, /[ \t]+/)
      if (words == 2 && item[1] ~ /^[0-9]+\+?$/) {
        check_count(kernel_of[e], item[1], item[2])
      } else {
        complain(place_of[e] ": not '<count> <instruction>': " list[i])
      }
    }
  }
}
