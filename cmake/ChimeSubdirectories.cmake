# chime_add_subdirectories(<glob>...): adds every folder that matches and has a CMakeLists.txt, in name order, so
# that a new program or test folder needs no line anywhere else. BINARY_SUFFIX: what the name of its build folder ends with.
function(chime_add_subdirectories)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "BINARY_SUFFIX" "")
  foreach(pattern ${arg_UNPARSED_ARGUMENTS})
    file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${pattern}/CMakeLists.txt)
    list(SORT lists)
    foreach(list ${lists})
      cmake_path(GET list PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE name)
      add_subdirectory(${folder} ${CMAKE_CURRENT_BINARY_DIR}/${name}${arg_BINARY_SUFFIX})
    endforeach()
  endforeach()
endfunction()
