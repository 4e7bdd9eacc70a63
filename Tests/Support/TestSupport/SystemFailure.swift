internal import Glibc

/// The failure of a system call that a test relies on.
package struct SystemFailure: Error, CustomStringConvertible {
    let call: String
    let number: Int32

    package init(_ call: String, _ number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    /// The call and the reason.
    package var description: String { "\(call): \(String(cString: strerror(number)))" }
}

/// Throws if a system call returned a negative result.
@discardableResult
func checked(_ result: Int32, _ call: String) throws -> Int32 {
    if result < 0 { throw SystemFailure(call) }
    return result
}
