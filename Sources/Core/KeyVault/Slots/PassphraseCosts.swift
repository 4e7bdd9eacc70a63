internal import CryptoPrimitives

/// What one try of a passphrase costs, for its owner and for whoever guesses: Argon2id's passes and memory (RFC 9106).
public struct PassphraseCosts: Sendable, Hashable, CustomStringConvertible {
    /// Passes over the memory: 2 to 32 in everything new, 1 to 32 in what is read.
    public var passes: Int { Int(parameters.passes) }
    /// Memory in KiB: 19 MiB to 1 GiB in everything new, 8 MiB to 1 GiB in what is read.
    public var memoryKiB: Int { Int(parameters.memoryKiB) }
    let parameters: Argon2id.Parameters

    /// 3 passes over 64 MiB: RFC 9106, section 4, second recommended option, with one lane.
    public static let recommended = PassphraseCosts(.recommended)
    /// 2 passes over 19 MiB, the least that a new slot, backup or protected file costs.
    public static let minimum = PassphraseCosts(.minimum)

    init(_ parameters: Argon2id.Parameters) { self.parameters = parameters }

    /// Creates the costs of something new.
    ///
    /// - Parameters:
    ///   - passes: 2 to 32.
    ///   - memoryKiB: 19456 to 1048576.
    /// - Throws: `VaultError` `.invalidArgument` beyond these bounds.
    public init(passes: Int, memoryKiB: Int) throws(VaultError) {
        parameters = Argon2id.Parameters(
            passes: UInt32(clamping: passes), memoryKiB: UInt32(clamping: memoryKiB))
        do throws(CryptoError) { try parameters.validateForCreation() } catch {
            throw VaultError(
                .invalidArgument, "use passphrase costs", "\(passes) passes over \(memoryKiB) KiB",
                "2 to 32 passes over 19456 to 1048576 KiB are accepted.")
        }
    }

    /// The costs of a slot that another program has made, which may be below ``minimum``; for tests of what readers say of it.
    package static func readable(passes: UInt32, memoryKiB: UInt32) -> PassphraseCosts {
        PassphraseCosts(Argon2id.Parameters(passes: passes, memoryKiB: memoryKiB))
    }

    /// For people: `3 passes over 64 MiB`.
    public var description: String {
        let memory = memoryKiB % 1024 == 0 ? "\(memoryKiB / 1024) MiB" : "\(memoryKiB) KiB"
        return "\(passes) \(passes == 1 ? "pass" : "passes") over \(memory)"
    }
}
