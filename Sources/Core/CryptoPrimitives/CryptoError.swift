internal import CSodium
public import FoundationEssentials

/// The error of a primitive: a failed authentication, a parameter out of range, or insufficient memory.
///
/// It gives no further cause: a failed tag says nothing about which bytes were wrong.
public struct CryptoError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of errors; more may be added.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code's stable name.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The code's name.
        public var description: String { rawValue }
        /// The tag, signature or key did not fit the data.
        public static let authenticationFailed = Code(rawValue: "authenticationFailed")
        /// A length or cost outside the primitive's range.
        public static let parameterOutOfRange = Code(rawValue: "parameterOutOfRange")
        /// A public key that would make the shared secret predictable (RFC 7748, section 6.1).
        public static let lowOrderPoint = Code(rawValue: "lowOrderPoint")
        /// Memory for a secret or for a password hash was not available.
        public static let outOfMemory = Code(rawValue: "outOfMemory")
        /// The processor lacks the instructions that the primitive needs.
        public static let unavailable = Code(rawValue: "unavailable")
        /// Text that should hold hexadecimal digits or Base64 of an exact length does not.
        public static let malformedEncoding = Code(rawValue: "malformedEncoding")
    }

    /// The kind of the error.
    public let code: Code
    /// The primitive that failed.
    public let operation: String

    package init(_ code: Code, _ operation: String) {
        self.code = code
        self.operation = operation
    }

    /// The error as one line for a person.
    public var description: String { "\(operation): \(code.rawValue)" }

    /// The same line: the error's `localizedDescription`.
    public var errorDescription: String? { description }
}

/// libsodium as a whole: its one-time start and its version.
package enum Sodium {
    /// Runs `sodium_init` once; every primitive goes through it.
    ///
    /// The process ends if libsodium cannot start, because nothing is safe without a random source.
    @inline(__always)
    static func start() { _ = started }

    private static let started: Bool = {
        // Without randomness, every later key would be predictable.
        guard csodium_init() >= 0 else { fatalError("libsodium could not be initialised (no usable random source?)") }
        return true
    }()

    /// The version of the loaded libsodium, such as `1.0.18`.
    package static var version: String { String(cString: csodium_version()) }
}
