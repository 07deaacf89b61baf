# Flags of every target: warnings, and the sanitizer of this build.
add_library(chime_flags INTERFACE)
target_compile_options(chime_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX,C>:-Wall;-Wextra>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(CHIME_SANITIZE STREQUAL "address")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-sanitize-recover=undefined>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=address,undefined)
  # The sanitizer's runtime as a library, which programs that were built without it can preload. clang has it as an archive in
  # each program unless asked, and finds it by no path of its own. A fuzzer links libstdc++ before it, which it refuses.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
                    OUTPUT_VARIABLE chime_sanitizer_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  else()
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                    OUTPUT_VARIABLE chime_sanitizer_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    cmake_path(GET chime_sanitizer_runtime PARENT_PATH folder)
    if(NOT CHIME_FUZZ)
      add_link_options(-shared-libasan LINKER:-rpath,${folder})
    endif()
  endif()
  if(CHIME_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
elseif(CHIME_SANITIZE STREQUAL "thread")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX,C>:-fsanitize=thread>
                      $<$<COMPILE_LANGUAGE:CXX,C>:-fno-omit-frame-pointer>)
  add_compile_definitions(CHIME_TSAN=1)
  add_link_options(-fsanitize=thread)
elseif(CHIME_SANITIZE)
  message(FATAL_ERROR "CHIME_SANITIZE is '${CHIME_SANITIZE}'; it may be empty, address or thread")
endif()

# Sources that read a command line or write a report once: CLI11 and nlohmann-json, which take 10 to 50 s a file to
# optimise and gain nothing.
function(chime_compile_cold)
  # Precompiled headers are of the target's optimisation.
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -O0 SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# chime_computes(<target>): the softnic, the softgpu, the executor, what moves data: what every test waits for. Optimised also where the
# build as a whole is not (-O0, as in .ci/run).
function(chime_computes target)
  if(NOT CHIME_SANITIZE AND CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O0")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O2>)
  endif()
endfunction()
