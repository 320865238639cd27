# The locks of native objects: exceptions and the GIL.

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

    // A thread that waits for the lock of a learner releases the GIL meanwhile (reader_slots.hpp).
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
        from manyclass.core.errors import LearnerHalfChanged
        raise LearnerHalfChanged
    throw_again()  # Cython translates the exceptions of the standard library
    return 0
