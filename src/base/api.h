// What leaves the shared library.
//
// The core is one library in a process, whoever uses it: Python's module `_C`, extensions of users, C++ programs. All of them
// must see the same state: the flags of the process, the counters, the lists of free memory. So a variable that a header
// shows to others is declared here and defined in one source file: an inline variable would be one in each library.
//
// Functions need no mark: all that is not hidden leaves (cmake/core.cmake hides the backends and their loops, but what
// carries the mark), and nothing within the library looks for them by name at run time, as they are `protected`. Data would
// be found through a table even so, for programs may copy it into themselves; hence `protected` stands at its declaration too,
// where the core is compiled. Exceptions carry the mark so that each has one type in the process.
#pragma once

#if defined(WENGERT_CORE) && defined(__ELF__)
#define WENGERT_API [[gnu::visibility("protected")]]
#else
#define WENGERT_API [[gnu::visibility("default")]]
#endif
