# "// ORDER kernel: fence, st.relaxed, st.mmio": each path from the kernel's entry to the last of them executes the others
# before it, in this order.
# "// NEVER kernel: st.release, st.mmio": no path from the kernel's entry leads through them in this order.
#
# progress[i]: how many steps of the sequence a path has taken before instruction i. ORDER takes the least over all paths,
# NEVER the most. A predicated instruction counts as skipped for ORDER, as executed for NEVER. An instruction adds one to
# the progress, or nothing. So the least or the most is found by passing the progress on from instruction to instruction
# until nothing changes.

function successors(kernel, i,    text, target) {
  delete next_of
  text = code[kernel, i]
  if (begins_with(text, "brx")) complain(kernel ": cannot follow " text)
  if (begins_with(text, "bra")) {
    target = text
    sub(/;.*/, "", target)
    sub(/.*[ \t]/, "", target)
    if (target in label) next_of[label[target]]
    else complain(kernel ": there is no label for " text)
  }
  if (is_conditional(text) || text !~ /^(bra|ret|exit|trap)([.;]|[ \t]|$)/) next_of[i + 1]
}

function find_labels(kernel,    i, text) {
  delete label
  for (i = 1; i <= length_of[kernel]; ++i) {
    text = code[kernel, i]
    if (text ~ /:$/) label[substr(text, 1, length(text) - 1)] = i
  }
}

# The progress after an instruction that is reached with progress `reached`.
function progress_after(word, text, reached) {
  if (word == "ORDER" && is_conditional(text)) return reached
  return begins_with(text, sequence[reached + 1]) ? reached + 1 : reached
}

function decides(word, progress, before) { return word == "ORDER" ? progress < before : progress > before }

# Passes the progress on along all edges, once. True if anything has changed.
function flow(word, kernel, steps,    i, j, after, changed) {
  for (i = 1; i <= length_of[kernel]; ++i) {
    if (!(i in progress)) continue
    after = progress[i] < steps - 1 ? progress_after(word, code[kernel, i], progress[i]) : progress[i]
    successors(kernel, i)
    for (j in next_of) {
      if (j in progress && !decides(word, after, progress[j])) continue
      progress[j] = after
      changed = 1
    }
  }
  return changed
}

function complain_of_order(kernel, steps, met) {
  if (met < steps - 1)
    complain("sm_" arch ", " kernel ": " sequence[steps] " is reached on a path that lacks step " met + 1 " of its ORDER, " \
             sequence[met + 1])
}
function complain_of_never(kernel, steps, met) {
  if (met == steps - 1)
    complain("sm_" arch ", " kernel ": " sequence[steps] " is reached behind " sequence[steps - 1] ", which is to be NEVER")
}

function check_sequence(word, kernel, steps,    i, reached) {
  find_labels(kernel)
  delete progress
  progress[1] = 0
  while (flow(word, kernel, steps)) continue
  for (i = 1; i <= length_of[kernel]; ++i) {
    if (!(i in progress) || !begins_with(code[kernel, i], sequence[steps])) continue
    reached = 1
    if (word == "ORDER") complain_of_order(kernel, steps, progress[i])
    else complain_of_never(kernel, steps, progress[i])
  }
  if (!reached) complain("sm_" arch ", " kernel ": " sequence[steps] ", the last of a sequence, is never reached")
}

END {
  for (e = 1; e <= expectations; ++e) {
    if (word_of[e] != "ORDER" && word_of[e] != "NEVER") continue
    steps = split(items_of[e], sequence, ",")
    for (i = 1; i <= steps; ++i) {
      sequence[i] = trim(sequence[i])
      if (sequence[i] !~ /^[^ \t]+$/) complain(place_of[e] ": not an instruction: '" sequence[i] "'")
    }
    if (steps < 2) complain(place_of[e] ": a sequence needs two instructions")
    else check_sequence(word_of[e], kernel_of[e], steps)
  }
}
