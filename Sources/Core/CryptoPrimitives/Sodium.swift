internal import CSodium

/// libsodium as a whole: its one-time start and its version.
package enum Sodium {
    /// Runs `sodium_init` once; every primitive goes through it.
    ///
    /// The process ends when libsodium cannot start: no random source means no safe way on.
    @inline(__always)
    static func start() { _ = started }

    private static let started: Bool = {
        // A library that has no randomness must not go on: every later key would be a guess.
        guard csodium_init() >= 0 else { fatalError("libsodium could not be initialised (no usable random source?)") }
        return true
    }()

    /// The version of the libsodium that is loaded, such as `1.0.18`.
    package static var version: String { String(cString: csodium_version()) }
}
