# Headers that are compiled once a target instead of once a file: most of what a small file takes to compile.
#
# A file that forgets an include compiles all the same with them: a build without them, which is the default outside the presets,
# finds it (scripts/soak makes one).
option(CHIME_PRECOMPILED_HEADERS "Compile the standard library's headers once a target" OFF)

# What a compiler cache needs to know such files again (scripts/lib.sh has the other half).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# chime_precompile(<target>...): for targets of many small files.
function(chime_precompile)
  if(CHIME_PRECOMPILED_HEADERS)
    foreach(target ${ARGN})
      target_precompile_headers(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp>")
    endforeach()
  endif()
endfunction()
