# The locks of native objects, and what a Python program sees of them.

cdef extern from *:
    """
    #include "core/native/pipeline/state_lock.hpp"

    static bool is_half_changed() {
        try {
            throw;
        } catch (const manyclass::StateHalfChanged&) {
            return true;
        } catch (...) {
            return false;
        }
    }
    static void throw_again() { throw; }

    // While a thread waits for the lock of an index it does not hold the GIL (reader_slots.hpp).
    static void* release_gil() { return PyGILState_Check() ? PyEval_SaveThread() : nullptr; }
    static void restore_gil(void* state) {
        PyEval_RestoreThread(static_cast<PyThreadState*>(state));
    }
    static void release_gil_while_waiting() {
        manyclass::Interpreter::release = release_gil;
        manyclass::Interpreter::restore = restore_gil;
    }
    """
    bint is_half_changed()
    void throw_again() except +
    void release_gil_while_waiting()

# Raise the Python error of the C++ exception that was caught.
cdef inline int raise_error() except -1:
    if is_half_changed():
        from manyclass.core.errors import IndexHalfChanged
        raise IndexHalfChanged
    throw_again()  # Cython translates the exceptions of the standard library
    return 0
