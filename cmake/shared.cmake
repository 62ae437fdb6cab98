# libwengert.so: the core as one library of the process, for `_C`, for extensions and for C++ programs.
#
# Why a library of its own, and not symbols that `_C` exports: a program without Python can use it, and systems other than
# Linux have modules that nothing can be linked against. What it costs, beside `_C` with all of the core inside: an addition
# of one element 60.6 ns against 60.3, recorded 107 against 104, a step of a chain with its backward 140 against 138, the smallest
# `grad` 1,020 ns against 980; and 1,600 symbols that are looked up when it is imported, 2 ms.
#
# It is linked from the objects of wengert_core, where src/base/api.h says what leaves it. Its symbols carry the version of
# its headers (src/base/abi.h), which the build counts here.

set(wengert_layers base tensor kernels graph ops engine wengert)  # whose headers are installed; backends are the library's own
set(installed_headers)
foreach(layer ${wengert_layers})
  file(GLOB_RECURSE layer_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${layer}/*.h")
  list(APPEND installed_headers ${layer_headers})
endforeach()
wengert_generated(generated_headers "^(ops|kernels)/.*\\.h$")
list(APPEND installed_headers ${generated_headers} "${WENGERT_GENERATED}/built_in_backends.h")

# What src/base/abi_settings.h says of this compiler with these flags.
file(WRITE "${CMAKE_BINARY_DIR}/abi_settings.cpp" "#include \"base/abi_settings.h\"\nsettings: WENGERT_ABI_SETTINGS\n")
set(sanitize)
if(WENGERT_SANITIZE)
  set(sanitize -DWENGERT_SANITIZE=1)
endif()
separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX20_STANDARD_COMPILE_OPTION}")
execute_process(
  COMMAND "${CMAKE_CXX_COMPILER}" ${flags} ${sanitize} -E -P
          "-I${PROJECT_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}/abi_settings.cpp"
  OUTPUT_VARIABLE preprocessed
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCH "settings: ([^\n]*)" found "${preprocessed}")
set(abi_settings "${CMAKE_MATCH_1}")

set(version_script "${WENGERT_GENERATED}/base/wengert.map")
set(abi_command "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/abi.py" ${PROJECT_VERSION} "${abi_settings}"
  "${WENGERT_GENERATED}/base/abi.h" "${version_script}")
add_custom_command(
  OUTPUT "${WENGERT_GENERATED}/base/abi.h" "${version_script}"
  COMMAND ${abi_command} ${installed_headers}
  DEPENDS "${PROJECT_SOURCE_DIR}/cmake/abi.py" ${installed_headers}
  COMMENT "Numbering the headers"
  VERBATIM)
add_custom_target(wengert_abi DEPENDS "${WENGERT_GENERATED}/base/abi.h" "${version_script}")
add_dependencies(wengert_core wengert_abi)

file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/shared.cpp" CONTENT "// CMake wants a source; all else is in wengert_core.\n")
add_library(wengert SHARED "${CMAKE_BINARY_DIR}/shared.cpp")
target_link_libraries(wengert
  PUBLIC Threads::Threads
  PRIVATE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,wengert_core>>)
target_include_directories(wengert PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
  $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}>)
target_compile_features(wengert PUBLIC cxx_std_20)
# A program that is not position-independent would copy the library's variables into itself, and change its own copies.
target_compile_options(wengert INTERFACE $<$<NOT:$<CXX_COMPILER_ID:MSVC>>:-fPIC>)
set_target_properties(wengert PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/package/wengert/lib"
  INSTALL_NAME_DIR "@rpath")
if(NOT APPLE AND NOT WIN32)
  target_link_options(wengert PRIVATE "LINKER:--version-script=${version_script}")
  set_target_properties(wengert PROPERTIES LINK_DEPENDS "${version_script}")
endif()
if(WENGERT_BUILD_TESTS AND NOT WENGERT_SANITIZE)
  # So that tests can let any allocation fail (src/base/memory/failing_allocation.h); its operators leave neither library.
  target_sources(wengert PRIVATE "${PROJECT_SOURCE_DIR}/tests/allocations/failing_new.cpp")
  target_link_libraries(wengert PRIVATE wengert_options)
endif()
