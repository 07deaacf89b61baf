# chime_add_subdirectories(<glob>...): adds every folder that matches and has a CMakeLists.txt, in name order, so
# that a new program or test folder needs no line anywhere else.
function(chime_add_subdirectories)
  foreach(pattern ${ARGN})
    file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${pattern}/CMakeLists.txt)
    list(SORT lists)
    foreach(list ${lists})
      cmake_path(GET list PARENT_PATH folder)
      add_subdirectory(${folder})
    endforeach()
  endforeach()
endfunction()
