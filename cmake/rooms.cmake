# Rooms: every folder of src/ is one static library, and sees only the rooms it names.
#
#   afterimage_room(store DEPS core LINK PkgConfig::xxhash)
#
# A room's headers are reached as "store/chunk_format.h" through a folder of links that holds that room alone, and a
# room is given the folders of the rooms in its DEPS, not of theirs. Including a header of any other room does not
# compile, so dependencies can only point one way (tests/CMakeLists.txt tries it).
# Sources are all x.cc of the folder; all x_test.cc become the tests of the room.

# Sanitizers are ten times slower, and more on a busy machine.
set(AFTERIMAGE_TEST_TIMEOUT_S 900)
if(AFTERIMAGE_SANITIZE)
  set(AFTERIMAGE_TEST_TIMEOUT_S 3600)
endif()

# -O2: at -O3 g++ 12 warns of overflows that are not there; llama.cpp, where the time goes, keeps its -O3.
function(afterimage_compile_options target)
  afterimage_compile_options_at(-O2 ${target})
endfunction()

function(afterimage_compile_options_at level target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_compile_options(${target} PRIVATE ${level} -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                         -Wno-missing-field-initializers -Werror)
  if(AFTERIMAGE_SANITIZE)
    target_compile_options(${target} PRIVATE -UNDEBUG) # with asserts
  endif()
endfunction()

# Lets a target include the headers of these rooms, and the public ones.
function(afterimage_see target)
  target_include_directories(${target} PRIVATE "${CMAKE_SOURCE_DIR}/include")
  foreach(room ${ARGN})
    target_include_directories(${target} PRIVATE "${CMAKE_BINARY_DIR}/rooms/${room}")
  endforeach()
endfunction()

function(afterimage_room name)
  cmake_parse_arguments(ROOM "" "" "DEPS;LINK" ${ARGN})
  string(REPLACE "_" "/" folder ${name})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")

  set(view "${CMAKE_BINARY_DIR}/rooms/${name}/${folder}")
  file(REMOVE_RECURSE "${view}")
  file(MAKE_DIRECTORY "${view}")
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
  foreach(header ${headers})
    get_filename_component(file_name "${header}" NAME)
    file(CREATE_LINK "${header}" "${view}/${file_name}" SYMBOLIC)
  endforeach()

  set(target afterimage_${name})
  add_library(${target} STATIC ${sources})
  set_target_properties(${target} PROPERTIES AFTERIMAGE_SEES "${name};${ROOM_DEPS}"
                        AFTERIMAGE_LINK "${ROOM_LINK}")
  afterimage_see(${target} ${name} ${ROOM_DEPS})
  list(TRANSFORM ROOM_DEPS PREPEND afterimage_)
  target_link_libraries(${target} PUBLIC ${ROOM_DEPS} PRIVATE ${ROOM_LINK})
  afterimage_compile_options(${target})
endfunction()

# afterimage_tests(store LABEL unit DEPS testing): one test program from all x_test.cc of this folder. It sees what its
# room sees, and the rooms in DEPS.
function(afterimage_tests name)
  if(NOT AFTERIMAGE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(TESTS "" "LABEL" "DEPS;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cc)
  set(target ${name}_tests)
  add_executable(${target} ${sources})
  get_target_property(sees afterimage_${name} AFTERIMAGE_SEES)
  afterimage_see(${target} ${sees} ${TESTS_DEPS})
  list(TRANSFORM TESTS_DEPS PREPEND afterimage_)
  target_link_libraries(${target} PRIVATE afterimage_${name} ${TESTS_DEPS} ${TESTS_LINK} GTest::gtest_main)
  afterimage_compile_options_at(-O0 ${target}) # what is tested is optimised; a third of the time to compile is saved
  add_test(NAME ${name} COMMAND ${target})
  # Without OMP_WAIT_POLICY two threads on a busy machine spend their time waiting for each other at full speed.
  set_tests_properties(${name} PROPERTIES LABELS ${TESTS_LABEL} TIMEOUT ${AFTERIMAGE_TEST_TIMEOUT_S} ENVIRONMENT OMP_WAIT_POLICY=passive)
endfunction()
