internal import Glibc

/// Whether sweeps take every call, every variant, every round: what `make faults` and `make fuzz` ask for.
package let isLongForm = environmentVariable("SEALED_LONG") == "1"

/// A variable of the tests' own environment.
package func environmentVariable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
