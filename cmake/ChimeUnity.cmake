# Several sources of a target as one, where CHIME_UNITY is ON: headers take most of the time that short files take to compile.
# So in the presets asan and tsan, and in .ci/run.
option(CHIME_UNITY "Compile sources of a target together" OFF)
set(CMAKE_UNITY_BUILD ${CHIME_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

# chime_compile_alone(<source>...): what has names of its own that a neighbour has, too.
function(chime_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
