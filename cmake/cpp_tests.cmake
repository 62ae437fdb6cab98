# wengert_cpp_tests: tests/cpp/*.cpp on doctest, against the core alone. Run it, or `ctest`.

find_path(WENGERT_DOCTEST_INCLUDE doctest/doctest.h)
mark_as_advanced(WENGERT_DOCTEST_INCLUDE)
if(NOT WENGERT_DOCTEST_INCLUDE)
  if(WENGERT_BUILD_TESTS STREQUAL "AUTO")
    message(STATUS "doctest not found: the C++ tests are not built")
    return()
  endif()
  message(FATAL_ERROR "WENGERT_BUILD_TESTS needs <doctest/doctest.h> (on Debian: apt-get install doctest-dev)")
endif()

file(GLOB test_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpp/*.cpp")
if(NOT test_sources)
  return()
endif()
add_executable(wengert_cpp_tests ${test_sources})
add_dependencies(wengert_cpp_tests wengert_codegen)
target_link_libraries(wengert_cpp_tests PRIVATE wengert_core wengert_options)
target_include_directories(wengert_cpp_tests SYSTEM PRIVATE "${WENGERT_DOCTEST_INCLUDE}")
set_target_properties(wengert_cpp_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")

enable_testing()
add_test(NAME wengert_cpp_tests COMMAND wengert_cpp_tests)

# Every header compiles alone: `ninja wengert_headers_alone`, which nox -s test_cpp does. Those that are parts of loops need
# the file that includes them.
file(GLOB_RECURSE core_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/*.h")
list(FILTER core_headers EXCLUDE REGEX "/src/(python|backends/cpu/isa|backends/cpu/scalar)/")
set(alone)
foreach(header IN LISTS core_headers)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}/src" "${header}")
  set(file "${CMAKE_BINARY_DIR}/headers_alone/${name}.cpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "#include \"${name}\"\n")
  list(APPEND alone "${file}")
endforeach()
add_library(wengert_headers_alone OBJECT EXCLUDE_FROM_ALL ${alone})
add_dependencies(wengert_headers_alone wengert_codegen)
target_link_libraries(wengert_headers_alone PRIVATE wengert_core wengert_options)
