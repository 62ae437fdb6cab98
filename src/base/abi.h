// Whether a binary fits this library: its version, its headers, and those settings of the compiler on which the layout of
// objects depends.
//
// Extensions are compiled against headers whose inline functions look into objects, so a binary made with other headers
// would read the wrong bytes. Three things keep it out, the earliest first:
//
//   * the compiler: wengert/wengert.h refuses settings that differ from those of the library;
//   * the loader: all symbols of the library have a version that names its headers ("wengert_0.1.0_5f0c2a9e1b47"), and a
//     binary that wants others is not loaded (ELF alone);
//   * modules of Python themselves, which compare as they are imported (wengert/bridge.h).
//
// The number of the headers is the hash that the build takes of them (cmake/abi.py).
#pragma once

#include "base/abi_settings.h"
#include "generated/base/abi.h"  // WENGERT_VERSION, WENGERT_ABI_HEADERS, WENGERT_BUILT_SETTINGS; the build writes it

#define WENGERT_ABI "wengert " WENGERT_VERSION " (headers " WENGERT_ABI_HEADERS "; " WENGERT_ABI_SETTINGS ")"

namespace wengert {

// WENGERT_ABI as the library was compiled.
const char* abi() noexcept;

}  // namespace wengert
