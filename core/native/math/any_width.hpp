// Compiles a function for several widths of vector instructions; its first call chooses. Without
// contraction all widths give the same numbers, as long as no sum is split by the width.
#pragma once

// Clang cannot do it for templates; the sanitizers cannot follow the choice.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define MANYCLASS_ANY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define MANYCLASS_ANY_WIDTH
#endif
