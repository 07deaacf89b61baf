# Headers that are compiled once instead of once a file: most of what a small file takes to compile.
#
# A file that forgets an include compiles all the same with them: a build without them, which is the default outside the presets,
# finds it (scripts/soak makes one).
option(CHIME_PRECOMPILED_HEADERS "Compile the standard library's headers once" OFF)

# The settings by which a compiler cache knows such files again (scripts/lib.sh has the other half).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

set(chime_common_header "$<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp>")
if(CHIME_PRECOMPILED_HEADERS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/chime_common_headers.cpp CONTENT "\n")
  add_library(chime_common_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/chime_common_headers.cpp)
  target_link_libraries(chime_common_headers PRIVATE chime_flags)
  target_precompile_headers(chime_common_headers PRIVATE ${chime_common_header})
endif()

# chime_precompile(<target>): for a target of a library, with the flags of all of them.
function(chime_precompile target)
  if(CHIME_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM chime_common_headers)
  endif()
endfunction()

# chime_precompile_alone(<target>): for one with flags of its own: a program, or what no sanitizer looks at.
function(chime_precompile_alone target)
  if(CHIME_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${chime_common_header})
  endif()
endfunction()
