// The settings of the compiler on which the layout of objects depends, of whoever compiles this: src/base/abi.h.
#pragma once

#include <string>  // has the macros of the standard library

#define WENGERT_QUOTE_(x) #x
#define WENGERT_QUOTE(x) WENGERT_QUOTE_(x)

#if defined(_LIBCPP_VERSION)
#define WENGERT_ABI_STANDARD_LIBRARY "libc++ " WENGERT_QUOTE(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define WENGERT_ABI_STANDARD_LIBRARY "libstdc++, _GLIBCXX_USE_CXX11_ABI=" WENGERT_QUOTE(_GLIBCXX_USE_CXX11_ABI)
#else
#define WENGERT_ABI_STANDARD_LIBRARY "another standard library"
#endif
#ifdef _GLIBCXX_DEBUG
#define WENGERT_ABI_DEBUG ", _GLIBCXX_DEBUG"
#else
#define WENGERT_ABI_DEBUG ""
#endif
#ifdef WENGERT_SANITIZE
#define WENGERT_ABI_SANITIZE ", WENGERT_SANITIZE"
#else
#define WENGERT_ABI_SANITIZE ""
#endif

// Of whoever compiles this: "libstdc++, _GLIBCXX_USE_CXX11_ABI=1".
#define WENGERT_ABI_SETTINGS WENGERT_ABI_STANDARD_LIBRARY WENGERT_ABI_DEBUG WENGERT_ABI_SANITIZE
