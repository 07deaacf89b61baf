# Kernels compiled by clang to PTX, for the softgpu (softgpu/README.md). Without CHIME_SOFTGPU nothing here looks for clang.
#
# CMake's own language CUDA wants a toolkit even where clang compiles it; here are no toolkit and no header of one: these are
# commands of their own.

# chime_write_toolkit_headers(<folder>): a file for each row of softgpu/toolkit_headers, by the name that the header has in a toolkit.
function(chime_write_toolkit_headers folder)
  set(table ${PROJECT_SOURCE_DIR}/softgpu/toolkit_headers)
  set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(STRINGS ${table} rows REGEX "^[^#]")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "^([^ ]+) +([^ ]+)$" matched "${row}")
    if(NOT matched)
      message(FATAL_ERROR "${table}: '${row}' is no name with a header of words/ or '-' behind it")
    endif()
    if(CMAKE_MATCH_2 STREQUAL "-")
      set(line "#error \"<${CMAKE_MATCH_1}> is a header of NVIDIA's toolkit, which the softgpu does not have\"")
    else()
      set(line "#ifdef __cplusplus
#include \"${CMAKE_MATCH_2}\"
#else
#error \"<${CMAKE_MATCH_1}> is a header of NVIDIA's toolkit, and the softgpu has its words in C++ alone\"
#endif")
    endif()
    file(CONFIGURE OUTPUT ${folder}/${CMAKE_MATCH_1} CONTENT "${line}\n" @ONLY)
  endforeach()
endfunction()

if(CHIME_SOFTGPU)
  if(CHIME_CUDA)
    message(FATAL_ERROR "CHIME_SOFTGPU and CHIME_CUDA are both ON: libchime.so speaks to one of the two drivers. "
                        "Build each in a folder of its own (presets softgpu and cuda)")
  endif()
  set(CHIME_SOFTGPU_ARCHITECTURE 90 CACHE STRING "Compute capability that clang compiles for: 80 or 90")
  find_program(CHIME_CLANG NAMES clang++-19 clang++ DOC "clang 19 or newer, with its NVPTX back end")
  if(NOT CHIME_CLANG)
    message(FATAL_ERROR "CHIME_SOFTGPU is ON, but there is no clang++-19 and no clang++ in PATH. "
                        "Install clang-19, or name a compiler by -DCHIME_CLANG=/path/to/clang++")
  endif()
  execute_process(COMMAND ${CHIME_CLANG} -dumpversion OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CHIME_CLANG} --print-targets OUTPUT_VARIABLE targets)
  if(version VERSION_LESS 19 OR NOT targets MATCHES "nvptx64")
    message(FATAL_ERROR "${CHIME_CLANG} (${version}) cannot compile for the softgpu: it takes clang 19 or newer with the "
                        "target nvptx64. Install clang-19, or name another by -DCHIME_CLANG=/path/to/clang++")
  endif()
  set(softgpu_words ${PROJECT_SOURCE_DIR}/softgpu/words)
  set(softgpu_toolkit ${PROJECT_BINARY_DIR}/softgpu_toolkit/toolkit)
  chime_write_toolkit_headers(${softgpu_toolkit})
  add_custom_target(softgpu_programs ALL COMMENT "Every program that clang compiles for the softgpu")
  add_custom_target(softgpu_tested COMMENT "What tests of every change run on the softgpu")

  # Our words stand before every other folder, what a toolkit's headers are called before the system's; no toolkit is looked
  # for, and what is found all the same is refused by check_headers.
  set(chime_clang_cuda -x cuda --cuda-gpu-arch=sm_${CHIME_SOFTGPU_ARCHITECTURE} --cuda-path=/nonexistent -nocudainc -nocudalib
      -std=c++20 -Wall -Wextra -Wno-cuda-compat -I${softgpu_words} -isystem ${softgpu_toolkit}
      -include cuda_runtime.h)
  set(chime_check_headers ${PROJECT_SOURCE_DIR}/softgpu/check_headers ${softgpu_words})
endif()

# chime_add_ptx(<output> <file> <folders> <definitions>): the kernels of a file as PTX text, which ends with a zero. Outputs have short
# names for the compiler: a compiler cache finds them again in another folder.
function(chime_add_ptx output source folders definitions)
  cmake_path(RELATIVE_PATH output BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR} OUTPUT_VARIABLE short)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${CHIME_CLANG} ${chime_clang_cuda} --cuda-device-only --cuda-feature=+ptx83 -O3
            "-I$<JOIN:${folders},;-I>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            -MD -MT ${short} -MF ${short}.d -S ${source} -o ${short}
    COMMAND ${chime_check_headers} ${output}.d
    COMMAND printf "\\0" >> ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Compiling ${source} to PTX")
endfunction()

# chime_add_clang_program(<target> <source>... [HOST <source>...]): the program with the first sources compiled by clang, their
# kernels as PTX inside; it runs on the softgpu. As chime_add_cuda_program. Needs CHIME_SOFTGPU.
function(chime_add_clang_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HOST")
  add_executable(${target} EXCLUDE_FROM_ALL ${arg_HOST})  # of its folder: see softgpu_programs
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE Chime::chime chime_flags)
  chime_clang_sources(${target} ${arg_UNPARSED_ARGUMENTS})
  add_dependencies(softgpu_programs ${target})
endfunction()

# chime_softgpu_runs(<program>...): programs that a test of every change runs. Programs of the soak are not built with every change.
function(chime_softgpu_runs)
  add_dependencies(softgpu_tested ${ARGN})
endfunction()

# chime_clang_sources(<target> <source>...): adds what clang makes of the sources, with the folders and definitions of the
# target; the host's part as its property CHIME_HOST_OPTIMISATION says, or -O1; -O0 where all of the host is.
function(chime_clang_sources target)
  set(folders "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(asked "$<TARGET_PROPERTY:${target},CHIME_HOST_OPTIMISATION>")
  set(usual -O1)
  if(CMAKE_CXX_FLAGS_RELWITHDEBINFO MATCHES "-O0")
    set(usual -O0)
  endif()
  set(optimisation "$<IF:$<BOOL:${asked}>,${asked},${usual}>")
  foreach(source ${ARGN})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source STEM name)
    set(short ${target}.objects/${name})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${short})
    # ccache does not know that the compiler reads the PTX.
    set(launcher)
    if(CMAKE_CXX_COMPILER_LAUNCHER)
      set(launcher env CCACHE_EXTRAFILES=${object}.ptx ${CMAKE_CXX_COMPILER_LAUNCHER})
    endif()
    chime_add_ptx(${object}.ptx ${source} "${folders}" "${definitions}")
    add_custom_command(OUTPUT ${object}.o
      COMMAND ${launcher} ${CHIME_CLANG} ${chime_clang_cuda} --cuda-host-only -Xclang -target-sdk-version=12.4
              -Xclang -fcuda-include-gpubinary -Xclang ${short}.ptx ${optimisation} -g1 -fPIC
              "-I$<JOIN:${folders},;-I>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              -MD -MT ${short}.o -MF ${short}.o.d -c ${source} -o ${short}.o
      COMMAND ${chime_check_headers} ${object}.o.d
      DEPENDS ${source} ${object}.ptx
      DEPFILE ${object}.o.d
      COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Compiling ${source} with its PTX inside")
    target_sources(${target} PRIVATE ${object}.o)
    set_source_files_properties(${object}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  endforeach()
  if(TARGET softgpu)
    target_link_libraries(${target} PRIVATE softgpu)
  endif()
endfunction()
