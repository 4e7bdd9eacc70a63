internal import CSodium
public import FoundationEssentials

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

/// Random bytes from the kernel, through libsodium.
package enum SecureRandom {
    /// Fills the whole buffer.
    @inline(__always)
    package static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        Sodium.start()
        guard let base = buffer.baseAddress else { return }
        csodium_random(base, buffer.count)
    }

    /// Returns random bytes for public values such as ids and salts.
    package static func bytes(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            fill(UnsafeMutableRawBufferPointer(buffer))
            initialized = count
        }
    }
}

/// Comparison in time independent of the position of the first difference.
package enum ConstantTime {
    /// Returns whether both buffers contain the same bytes. Buffers of different sizes are never equal.
    @inline(__always)
    package static func areEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
            return a.count == b.count
        }
        return csodium_compare(first, second, a.count) == 0
    }
}

/// Hexadecimal text for secrets, without table look-ups that would leak digits through the cache.
package enum Hexadecimal {
    /// Writes two lower-case digits for each byte of `bytes` into `text`, which is twice as long.
    package static func encode(_ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) {
        precondition(text.count == 2 * bytes.count, "hexadecimal text is twice as long as its bytes")
        guard let input = bytes.bytePointer, let output = text.bytePointer else { return }
        csodium_hex_encode(output, input, bytes.count)
    }

    /// Reads exactly `bytes.count` bytes from text of exactly twice that length.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding` for another length or another character.
    package static func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        if text.isEmpty && bytes.isEmpty { return }
        guard let input = text.bytePointer, let output = bytes.bytePointer,
            csodium_hex_decode(output, bytes.count, input, text.count) == 0
        else { throw CryptoError(.malformedEncoding, "hexadecimal decoding") }
    }
}

/// Base64 text of secrets, without table look-ups that would leak letters through the cache.
package enum SecretBase64 {
    /// Reads exactly `bytes.count` bytes from text in one of the two alphabets, with padding or without.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding` for another length, another character and letters of both alphabets.
    package static func decode(
        _ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        let hasPadding = bytes.count % 3 != 0 && text.count % 4 == 0
        let pads = hasPadding ? 3 - bytes.count % 3 : 0
        guard text.count >= pads, text.suffix(pads).allSatisfy({ $0 == UInt8(ascii: "=") }) else {
            throw CryptoError(.malformedEncoding, "base64 decoding")
        }
        // Reads every letter, so that the time reveals no more than the alphabet.
        let urlLetters = text.reduce(0) { count, letter in
            count + (letter == UInt8(ascii: "-") ? 1 : 0) + (letter == UInt8(ascii: "_") ? 1 : 0)
        }
        guard let input = text.bytePointer, let output = bytes.bytePointer,
            csodium_base64_decode(output, bytes.count, input, text.count - pads, urlLetters > 0 ? 1 : 0) == 0
        else { throw CryptoError(.malformedEncoding, "base64 decoding") }
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    var bytePointer: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}

extension UnsafeMutableRawBufferPointer {
    @inline(__always)
    var bytePointer: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
}
