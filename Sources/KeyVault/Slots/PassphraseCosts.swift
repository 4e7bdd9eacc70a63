internal import CryptoPrimitives

/// What one try of a passphrase costs, for its owner and for whoever guesses: Argon2id's passes and memory (RFC 9106).
public struct PassphraseCosts: Sendable, Hashable, CustomStringConvertible {
    /// Passes over the memory, 1 to 32.
    public var passes: Int { Int(parameters.passes) }
    /// Memory in KiB, 8 MiB to 1 GiB.
    public var memoryKiB: Int { Int(parameters.memoryKiB) }
    let parameters: Argon2id.Parameters

    /// 3 passes over 64 MiB: RFC 9106, section 4, second recommended option, with one lane.
    public static let recommended = PassphraseCosts(.recommended)
    /// The least that a slot may cost; for tests.
    package static let minimum = PassphraseCosts(.minimum)

    init(_ parameters: Argon2id.Parameters) { self.parameters = parameters }

    /// Takes costs within the bounds that every reader holds to.
    ///
    /// - Throws: `VaultError` `.invalidArgument`.
    public init(passes: Int, memoryKiB: Int) throws(VaultError) {
        parameters = Argon2id.Parameters(
            passes: UInt32(clamping: passes), memoryKiB: UInt32(clamping: memoryKiB))
        do throws(CryptoError) { try parameters.validate() } catch {
            throw VaultError(
                .invalidArgument, "use passphrase costs", "\(passes) passes over \(memoryKiB) KiB",
                "1 to 32 passes over 8192 to 1048576 KiB are taken.")
        }
    }

    /// For people: `3 passes over 64 MiB`.
    public var description: String {
        let memory = memoryKiB % 1024 == 0 ? "\(memoryKiB / 1024) MiB" : "\(memoryKiB) KiB"
        return "\(passes) \(passes == 1 ? "pass" : "passes") over \(memory)"
    }
}
