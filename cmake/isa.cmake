# The loops of src/backends/cpu/isa/*.cpp and generated/backends/cpu/isa_*.cpp, compiled once per instruction set.
#
# Each file is compiled with -DWENGERT_ISA=<v2|v3|v4|generic> and puts all it defines into
# `namespace wengert::kernels::WENGERT_ISA`; which copy runs is decided when the library is loaded.
# A function with vague linkage outside that namespace (an inline function or a template of a shared header that
# was not inlined) could be kept by the linker in its AVX-512 form for everybody: check_isa_symbols.py forbids it.

include(CheckCXXCompilerFlag)
include(CheckSourceCompiles)

set(WENGERT_DEV_ISA "" CACHE STRING "The one instruction set to optimise for, in development builds (v3)")
set(WENGERT_ISAS generic)
# One copy of the loops is enough for a sanitizer.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND NOT WENGERT_SANITIZE AND NOT WENGERT_PORTABLE)
  check_cxx_compiler_flag(-march=x86-64-v4 WENGERT_HAVE_X86_64_LEVELS)
  if(WENGERT_HAVE_X86_64_LEVELS)
    set(WENGERT_ISAS v2 v3 v4)
    target_compile_definitions(wengert_core PUBLIC WENGERT_HAVE_X86_64_LEVELS=1)  # backends/cpu/dispatch.h
  endif()
endif()

# glibc's vector mathematics; _ZGVbN2v_tanh came with 2.35, the first complete version.
set(CMAKE_REQUIRED_LIBRARIES mvec m)
check_source_compiles(CXX "
  #include <emmintrin.h>
  extern \"C\" __m128d _ZGVbN2v_tanh(__m128d);
  int main() { return _mm_cvtsd_si32(_ZGVbN2v_tanh(_mm_setzero_pd())); }
" WENGERT_HAVE_LIBMVEC)
unset(CMAKE_REQUIRED_LIBRARIES)
if(WENGERT_PORTABLE)
  set(WENGERT_HAVE_LIBMVEC OFF)
endif()
if(WENGERT_HAVE_LIBMVEC)
  target_compile_definitions(wengert_core PRIVATE WENGERT_HAVE_LIBMVEC=1)
  target_link_libraries(wengert_core PUBLIC mvec m)
endif()

file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/backends/cpu/isa/*.cpp")
wengert_generated(isa_generated "^backends/cpu/isa_.*\\.cpp$")
list(APPEND isa_sources ${isa_generated})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT WENGERT_SANITIZE)
  # Sinking would move the call of a vector function into the branch that needs its value, and nothing is vectorised then.
  set(plain_loops ${isa_generated})
  foreach(name conv vector_forms)
    list(APPEND plain_loops "${PROJECT_SOURCE_DIR}/src/backends/cpu/isa/${name}.cpp")
  endforeach()
  set(other_loops ${isa_sources})
  list(REMOVE_ITEM other_loops ${plain_loops})
  set(plain ${WENGERT_PLAIN_LOOPS})
  set(other ${WENGERT_LOOPS})
  if(WENGERT_DEV_ISA)
    list(REMOVE_ITEM plain -O2)  # some of the sets get -O0
    list(REMOVE_ITEM other -O2)
  endif()
  set_source_files_properties(${plain_loops} PROPERTIES COMPILE_OPTIONS "${plain};-fno-tree-sink")
  set_source_files_properties(${other_loops} PROPERTIES COMPILE_OPTIONS "${other}")
endif()

# Loops throw nothing, so they need no tables to unwind them: a third of a megabyte.
set(optimised -fno-asynchronous-unwind-tables)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND optimised -fno-exceptions)  # others refuse even a template that throws and is never used
else()
  list(APPEND optimised ${WENGERT_LOOPS})
endif()
if(WENGERT_SANITIZE)
  set(optimised)
endif()
foreach(isa IN LISTS WENGERT_ISAS)
  set(kernels wengert_kernels_${isa})
  add_library(${kernels} OBJECT ${isa_sources})
  add_dependencies(${kernels} wengert_codegen)
  target_include_directories(${kernels} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${CMAKE_BINARY_DIR}")
  target_link_libraries(${kernels} PRIVATE wengert_options)
  # -fno-trapping-math lets comparisons and selects vectorise; results, NaN and signed zero stay as IEEE 754 says.
  target_compile_options(${kernels} PRIVATE ${optimised} -fno-math-errno -fno-trapping-math)
  target_compile_definitions(${kernels} PRIVATE WENGERT_ISA=${isa} $<$<BOOL:${WENGERT_HAVE_LIBMVEC}>:WENGERT_HAVE_LIBMVEC=1>)
  if(NOT isa STREQUAL "generic")
    target_compile_options(${kernels} PRIVATE -march=x86-64-${isa})
  endif()
  if(WENGERT_DEV_ISA AND NOT isa STREQUAL WENGERT_DEV_ISA)
    target_compile_options(${kernels} PRIVATE -O0)  # quick to compile; never chosen on the developer's machine
  endif()
  target_sources(wengert_core PRIVATE $<TARGET_OBJECTS:${kernels}>)

  if(CMAKE_NM AND NOT WENGERT_SANITIZE AND NOT WENGERT_DEV_ISA)
    add_custom_command(TARGET wengert_core POST_BUILD
      COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/cmake/check_isa_symbols.py" "${CMAKE_NM}" ${isa}
              "$<TARGET_OBJECTS:${kernels}>"
      COMMAND_EXPAND_LISTS VERBATIM)
  endif()
endforeach()
