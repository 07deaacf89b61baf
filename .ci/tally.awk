# Reads a JUnit report of ctest and prints one line for each test: pass, fail or skip, its name, and for a skip the
# first line that it printed, which is its reason.
#
# ctest itself counts a test whose program is missing among the skipped: here it failed.
function flush_test() {
  if (name != "") print verdict, name, reason
  name = reason = ""
}
/^\t<testcase / {
  flush_test()
  match($0, /name="[^"]*"/)
  name = substr($0, RSTART + 6, RLENGTH - 7)
  verdict = "fail"
  if ($0 ~ /status="run"/) verdict = "pass"
  if ($0 ~ /status="disabled"/) verdict = "skip"
}
/<skipped message="SKIP_/ { verdict = "skip" }
/<system-out>/ && verdict == "skip" { reason = $0; sub(/.*<system-out>/, "", reason); sub(/<\/system-out>/, "", reason) }
END { flush_test() }
