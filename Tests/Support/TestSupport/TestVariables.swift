internal import Glibc

/// True if sweeps cover every call, every variant and every round, as `make faults` and `make fuzz` request.
package let isLongForm = environmentVariable("SEALED_LONG") == "1"

/// Returns a variable of the tests' own environment.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
