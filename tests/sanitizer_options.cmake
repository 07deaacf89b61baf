# What ctest, which reads this before the tests, gives them as sanitizers' options. It stands here and in no script, so that
# ctest gives the same by itself, in the whole build folder or in one below it. Options that are set replace them.
if(NOT DEFINED ENV{UBSAN_OPTIONS})
  set(ENV{UBSAN_OPTIONS} print_stacktrace=1)
endif()
if(NOT DEFINED ENV{LSAN_OPTIONS})
  set(ENV{LSAN_OPTIONS} suppressions=${CMAKE_CURRENT_LIST_DIR}/leaks_of_others.txt:print_suppressions=0)
endif()
