# What holds for every translation unit of the project.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
# -O2: the core is branches and pointers. Loops over memory get more, in core.cmake and isa.cmake.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
# Elementwise loops, each of which is one vectorised body: what else g++'s -O3 does (peeling and cloning of the short scalar
# loops) doubles these objects, and the time to compile them, for nothing. A short loop that lies across two lines of the
# instruction cache takes up to twice as long.
set(WENGERT_PLAIN_LOOPS -O3)
# The other loops of an instruction set profit from more passes, but not from complete unrolling and cloning: what has to be
# unrolled says so.
set(WENGERT_LOOPS -O3)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(WENGERT_PLAIN_LOOPS -O2 -ftree-vectorize -fvect-cost-model=dynamic -falign-loops=32)
  set(WENGERT_LOOPS ${WENGERT_PLAIN_LOOPS} -floop-interchange -fpredictive-commoning -fsplit-loops -fsplit-paths
    -ftree-loop-distribution -ftree-partial-pre -funswitch-loops -fversion-loops-for-strides)
endif()

find_program(WENGERT_CCACHE ccache)
mark_as_advanced(WENGERT_CCACHE)
if(WENGERT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${WENGERT_CCACHE}")
endif()

# For WENGERT_PCH: what most files include.
set(WENGERT_STD_HEADERS <algorithm> <array> <atomic> <cmath> <complex> <cstdint> <functional> <memory> <mutex> <optional>
  <span> <stdexcept> <string> <string_view> <unordered_map> <utility> <variant> <vector>)

find_package(Threads REQUIRED)

# Compile options of our targets.
#   -ftls-model=initial-exec  the thread-local state word is one load; the library takes few bytes of static TLS, which only
#                             glibc has for libraries that are loaded later
#   -fno-plt                  calls into libpython go through one indirection
#   -ffp-contract=off         the same bits on every instruction set; fused multiply-adds only where written
add_library(wengert_options INTERFACE)
include(CheckCXXSymbolExists)
check_cxx_symbol_exists(__GLIBC__ "features.h" WENGERT_HAVE_GLIBC)
set(static_tls)
if(WENGERT_HAVE_GLIBC AND NOT WENGERT_PORTABLE)
  set(static_tls -ftls-model=initial-exec)
endif()
target_compile_options(wengert_options INTERFACE -Wall -Wextra ${static_tls} -fno-plt -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Hints and warnings of g++ that it does not know, loops that it does not unroll or vectorise as asked, and conditions of
  # loops that are written with | and & so that there is no branch.
  target_compile_options(wengert_options INTERFACE -Wno-unknown-warning-option -Wno-unknown-pragmas -Wno-pass-failed
    -Wno-bitwise-instead-of-logical -Wno-bitwise-conditional-parentheses)
endif()
if(WENGERT_PORTABLE)
  target_compile_definitions(wengert_options INTERFACE WENGERT_PORTABLE=1)  # base/system.h
endif()

if(WENGERT_SANITIZE)
  if(NOT WENGERT_SANITIZE MATCHES "^(address|undefined|address,undefined|thread)$")
    message(FATAL_ERROR "WENGERT_SANITIZE is '${WENGERT_SANITIZE}'; use address, undefined, address,undefined or thread")
  endif()
  # -O1 and -g1 halve the time to build; the standard library checks its own preconditions too.
  add_compile_options(-fsanitize=${WENGERT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -O1 -g1
    -U_GLIBCXX_ASSERTIONS -D_GLIBCXX_ASSERTIONS -DWENGERT_SANITIZE=1)
  # Its base/memory/slab.h comes before ours: what a pool hands out again, no sanitizer can see.
  include_directories(BEFORE "${PROJECT_SOURCE_DIR}/tests/sanitizers")
  add_link_options(-fsanitize=${WENGERT_SANITIZE})
elseif(WENGERT_WERROR)
  # Not together with sanitizers: their instrumentation makes g++ warn of code that is correct.
  target_compile_options(wengert_options INTERFACE -Werror)
endif()
