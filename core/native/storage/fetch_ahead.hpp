// Fetches memory ahead of its use.
#pragma once

namespace manyclass {

// Start to fetch the cache line at this address, which need not be valid. The empty statement is an
// effect: GCC takes a function that does nothing but fetch for one without effects, and removes
// calls of it.
inline void fetch_ahead(const void* at) {
    __builtin_prefetch(at);
    asm volatile("");
}

}  // namespace manyclass
