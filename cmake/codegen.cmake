# Runs the generator: ops/*.yaml -> ${CMAKE_BINARY_DIR}/generated/{kernels,ops,python,python_package}.
#
# Sets WENGERT_GENERATED_FILES (all outputs) and defines the target wengert_codegen. The generator lists its
# outputs at configure time; it must rewrite a file only when its text changes, so that ninja rebuilds only
# what a change of the table touches.

if(WENGERT_PYTHON)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module NumPy)
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)  # runs the generator, nothing else
endif()

set(WENGERT_GENERATED "${CMAKE_BINARY_DIR}/generated")
set(codegen_command "${Python_EXECUTABLE}" -m codegen --table "${PROJECT_SOURCE_DIR}/ops" --out "${WENGERT_GENERATED}")

file(GLOB_RECURSE codegen_inputs CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/ops/*.yaml" "${PROJECT_SOURCE_DIR}/codegen/*.py" "${PROJECT_SOURCE_DIR}/codegen/templates/*")
list(FILTER codegen_inputs EXCLUDE REGEX "__pycache__")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${codegen_inputs})

set(WENGERT_GENERATED_FILES)
execute_process(
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${codegen_command} --list-outputs
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  OUTPUT_VARIABLE listed OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" listed "${listed}")
foreach(path IN LISTS listed)
  cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "${WENGERT_GENERATED}" NORMALIZE)
  list(APPEND WENGERT_GENERATED_FILES "${path}")
endforeach()

add_custom_command(
  OUTPUT ${WENGERT_GENERATED_FILES}
  COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${codegen_command}
  DEPENDS ${codegen_inputs}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
  COMMENT "Generating operations from ops/*.yaml"
  VERBATIM)
add_custom_target(wengert_codegen DEPENDS ${WENGERT_GENERATED_FILES})

# wengert_generated(<variable> <regex>): the generated files whose path below generated/ matches.
function(wengert_generated variable regex)
  set(found)
  foreach(path IN LISTS WENGERT_GENERATED_FILES)
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${WENGERT_GENERATED}" OUTPUT_VARIABLE below)
    if(below MATCHES "${regex}")
      list(APPEND found "${path}")
    endif()
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()
