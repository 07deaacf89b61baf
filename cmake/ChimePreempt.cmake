# chime_preempt(<target>): compiles the target so that kernels on the CPU device yield in every loop, also in loops that wait without any
# call of Chime (device/simt/launch/preempt.cpp). Costs 4 to 5 ns per basic block: for tests, not for benchmarks.
function(chime_preempt target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize-coverage=trace-pc>)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:chime_preempt_hook>)
endfunction()
