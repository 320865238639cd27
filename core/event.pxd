from manyclass.core.instance cimport Instance


cdef class Event:
    cdef bytes _data
    cdef readonly str kind
    cdef readonly str event_id
    cdef readonly unsigned long long fingerprint
    cdef readonly list classes
    cdef readonly list rejected
    cdef readonly list replaced
    cdef readonly unsigned long long target
    cdef readonly double weight
    cdef readonly dict parents
    cdef readonly bint moves
    cdef readonly str name
    cdef readonly str renamed_to
    cdef readonly bint merges
    cdef readonly dict options
    cdef readonly dict described
    cdef readonly unsigned long long restored
    cdef readonly unsigned int rules
    cdef readonly bint joined
    cdef readonly str source
    cdef readonly str reviewer
    cdef readonly str batch
    cdef readonly object text
    cdef readonly unsigned long long time
    cdef readonly str instance_id
    cdef Instance _instance
    cdef readonly object reading
