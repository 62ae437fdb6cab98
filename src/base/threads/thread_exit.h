// What a thread owns through a thread-local pointer, and gives back when it ends.
//
// A pointer, since the loader has little room for thread-local data of libraries that are loaded late (static TLS), and
// what we take there others cannot have. `give_back` gets what this thread has set for `thread_exit_key<give_back>()`.
// What other thread-local objects free in their destructors may make it anew; then the system calls `give_back` once
// more, which it would not do for a destructor of C++.
#pragma once

#include <pthread.h>

#include <cstdlib>

namespace wengert {

template <void (*give_back)(void*) noexcept>
pthread_key_t thread_exit_key() noexcept {
    static const pthread_key_t key = [] {
        pthread_key_t made;
        if (pthread_key_create(&made, give_back) != 0) std::abort();
        return made;
    }();
    return key;
}

}  // namespace wengert
