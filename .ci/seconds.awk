# Reads a JUnit report of ctest and prints one line for each test that ran: its seconds, the stage (-v stage=...) and its name.
/^\t<testcase / && /status="(run|fail)"/ {
  match($0, /name="[^"]*"/)
  name = substr($0, RSTART + 6, RLENGTH - 7)
  match($0, / time="[^"]*"/)
  printf "%6.1f s  %s: %s\n", substr($0, RSTART + 7, RLENGTH - 8), stage, name
}
