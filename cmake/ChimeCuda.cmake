# The CUDA toolkit of this build, and what is made with it. Without CHIME_CUDA nothing here looks for one.

if(CHIME_CUDA)
  # CUDACXX or CMAKE_CUDA_COMPILER, else nvcc in PATH or where NVIDIA installs it.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(CHIME_NVCC nvcc PATHS /usr/local/cuda/bin)
    if(NOT CHIME_NVCC)
      message(FATAL_ERROR "CHIME_CUDA is ON, but there is no nvcc in PATH or /usr/local/cuda/bin. "
                          "Install the CUDA toolkit (12.5 or newer), or name it by CUDACXX=/path/to/nvcc")
    endif()
    set(CMAKE_CUDA_COMPILER ${CHIME_NVCC})
  endif()
  # Code for both, and PTX of the newer for GPUs to come.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.5)
    message(FATAL_ERROR "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old: Chime needs CUDA 12.5 or newer")
  endif()
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc 12 has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  find_package(CUDAToolkit REQUIRED)
  add_custom_target(cuda_programs COMMENT "Every program that nvcc compiles")
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
endif()

set(CHIME_FATBIN_FLAGS "" CACHE STRING "Further options of nvcc for the library's own kernels")
mark_as_advanced(CHIME_FATBIN_FLAGS)

# chime_add_fatbin(<output> <file.cu> <include folders>): device code alone, for every architecture of
# CMAKE_CUDA_ARCHITECTURES, as a file that the driver can load.
function(chime_add_fatbin output source folders)
  set(targets)
  if(CMAKE_CUDA_HOST_COMPILER)
    list(APPEND targets -ccbin=${CMAKE_CUDA_HOST_COMPILER})
  endif()
  foreach(architecture ${CMAKE_CUDA_ARCHITECTURES})
    if(architecture MATCHES "^(native|all|all-major)$")
      list(APPEND targets -arch=${architecture})
      continue()
    endif()
    string(REGEX REPLACE "-(real|virtual)$" "" number ${architecture})
    set(code sm_${number} compute_${number})
    if(architecture MATCHES "-real$")
      set(code sm_${number})
    elseif(architecture MATCHES "-virtual$")
      set(code compute_${number})
    endif()
    foreach(one ${code})
      list(APPEND targets -gencode=arch=compute_${number},code=${one})
    endforeach()
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_CUDA_COMPILER} -std=c++20 -O3 ${CHIME_FATBIN_FLAGS} -fatbin -no-compress ${targets}
            "-I$<JOIN:${folders},;-I>" -MD -MF ${output}.d ${source} -o ${output}
    DEPENDS ${source}
    DEPFILE ${output}.d
    COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Compiling ${source} to device code")
endfunction()

# chime_add_kernel_program(<target> <source>... [HOST <source>...]): a program with kernels. On the CPU device all of it
# is C++; with CHIME_CUDA, <target>_cuda is the same program with the first sources compiled by nvcc, with CHIME_SOFTGPU
# <target>_softgpu by clang.
function(chime_add_kernel_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HOST")
  set_source_files_properties(${arg_UNPARSED_ARGUMENTS} PROPERTIES LANGUAGE CXX)
  add_executable(${target} ${arg_UNPARSED_ARGUMENTS} ${arg_HOST})
  target_link_libraries(${target} PRIVATE Chime::chime chime_flags)
  if(CHIME_CUDA)
    chime_add_cuda_program(${target}_cuda ${ARGN})
  endif()
  if(CHIME_SOFTGPU)
    chime_add_clang_program(${target}_softgpu ${ARGN})
  endif()
endfunction()

# chime_link_kernel_program(<target> <library>...): links a program of chime_add_kernel_program, whoever compiles it.
function(chime_link_kernel_program target)
  foreach(program ${target} ${target}_cuda ${target}_softgpu)
    if(TARGET ${program})
      target_link_libraries(${program} PRIVATE ${ARGN})
    endif()
  endforeach()
endfunction()

# chime_add_cuda_program(<target> <source>... [HOST <source>...]): the first sources compiled by nvcc for every
# architecture of CMAKE_CUDA_ARCHITECTURES, without -rdc. Needs CHIME_CUDA.
#
# A file has one language per folder, and there these are C++ already: so nvcc gets files of the build tree that include
# them.
function(chime_add_cuda_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HOST")
  set(wrappers)
  foreach(source ${arg_UNPARSED_ARGUMENTS})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    cmake_path(GET source STEM name)
    set(wrapper ${CMAKE_CURRENT_BINARY_DIR}/${target}.sources/${name}.cu)
    file(CONFIGURE OUTPUT ${wrapper} @ONLY CONTENT "#include \"@source@\"\n")
    list(APPEND wrappers ${wrapper})
  endforeach()
  add_executable(${target} ${wrappers} ${arg_HOST})
  set_target_properties(${target} PROPERTIES CUDA_SEPARABLE_COMPILATION OFF LINKER_LANGUAGE CUDA)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE Chime::chime chime_flags)
  add_dependencies(cuda_programs ${target})
endfunction()
