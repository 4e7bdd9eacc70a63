internal import CryptoPrimitives
package import Sealing

/// One entry of an access log: who did what with a vault, and when (`docs/access-log.md`).
public struct AccessEntry: Hashable, Sendable {
    /// Its number since the vault was made, from 0.
    public let index: UInt64
    /// The wall clock of the process that entered it, in milliseconds since 1970.
    public let milliseconds: UInt64
    /// What was done.
    public let event: AccessEvent
    /// How far it had come.
    public let outcome: AccessOutcome
    /// The vault's generation that it was done to, or that it makes.
    public let generation: UInt64
    /// The period of that generation; 0 where none was known.
    public let period: UInt32
    /// Whether the generation is the person compartment's.
    public let isPersonCompartment: Bool
    /// What it is about; nil for the vault as a whole.
    public let subject: AccessSubject?
    /// The process, as its own PID namespace counts.
    public let pid: Int32
    /// The effective user.
    public let uid: UInt32
    /// The program's path as the kernel told it; empty where it did not.
    public let executable: String
    /// Whether the path's beginning was left out, because it is longer than the field.
    public let isExecutableCut: Bool
    /// Whether whoever entered it had no key: everybody who may write the file could have.
    public let isUnkeyed: Bool
    /// Whether the remains of an entry that a crash had torn were removed before this one.
    public let followsTornEntry: Bool

    /// The number of the log key that it was entered under; 0 without a key.
    public let keyNumber: UInt32
    /// The version of its form.
    let version: UInt16

    /// Of the log's own bookkeeping, the code that the chain goes on from; nil in every other entry.
    let continuedCode: Bytes32?
}

extension AccessEntry {
    /// Takes the 256 bytes of an entry apart, whatever they are: whether they are authentic is for the chain to say.
    init(parsing bytes: UnsafeRawBufferPointer) {
        typealias Layout = AccessEntryLayout
        let flags: UInt32 = bytes.number(at: Layout.flags)
        let size = min(Int(bytes.number(at: Layout.executableSize, as: UInt16.self)), ExecutableName.maximumSize)
        let subject = Bytes16(bytes.part(Layout.subject, 16))
        index = bytes.number(at: Layout.index)
        milliseconds = bytes.number(at: Layout.milliseconds)
        event = AccessEvent(rawValue: bytes.number(at: Layout.event))
        outcome = AccessOutcome(rawValue: bytes.number(at: Layout.outcome))
        let write = VaultWrite(bytes.number(at: Layout.generation))
        (generation, period, isPersonCompartment) = (write.generation, write.period, write.isPerson)
        self.subject = subject == .zero ? nil : AccessSubject(bytes: subject)
        pid = bytes.number(at: Layout.pid)
        keyNumber = bytes.number(at: Layout.keyNumber)
        version = bytes.number(at: Layout.versionField)
        uid = bytes.number(at: Layout.uid)
        executable = String(decoding: bytes.part(Layout.executable, size), as: UTF8.self)
        isExecutableCut = flags & Layout.executableCut != 0
        isUnkeyed = flags & Layout.unkeyed != 0
        followsTornEntry = flags & Layout.followsTornEntry != 0
        continuedCode = event == .continued ? Bytes32(bytes.part(Layout.executable, Layout.codeSize)) : nil
    }
}

/// One write of a compartment as an entry names it: bits 0 to 40 the generation, bits 41 to 62 the period, bit 63 set for
/// the person compartment.
package struct VaultWrite: Hashable, Sendable {
    package let generation: UInt64
    package let period: UInt32
    package let isPerson: Bool

    private static let generationBits = 41

    init(_ role: CompartmentRole, period: UInt32, generation: UInt64) {
        self.generation = generation
        self.period = period
        isPerson = role == .person
    }

    package init(_ encoded: UInt64) {
        generation = encoded & ((1 << Self.generationBits) - 1)
        period = UInt32(truncatingIfNeeded: (encoded & ~(1 << 63)) >> Self.generationBits)
        isPerson = encoded >> 63 == 1
    }

    package var encoded: UInt64 {
        min(generation, (1 << Self.generationBits) - 1) | UInt64(min(period, 1 << 22 - 1)) << Self.generationBits
            | (isPerson ? 1 << 63 : 0)
    }
}

/// How far the thing had come when it was entered in the log. An open set with stable numbers and names.
public struct AccessOutcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number in the log.
    public let rawValue: UInt16

    /// An outcome by its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// It was done.
    public static let succeeded = AccessOutcome(rawValue: 1)
    /// It is about to be done. That it was is said by a vault of the entry's generation or a later one; of several such
    /// entries with one generation, by the last of them only: the changes before it were given up, or their programs killed.
    public static let intended = AccessOutcome(rawValue: 2)
    /// It was refused: a wrong credential, a locked vault, nothing of that name. Of a change: nothing was changed.
    public static let refused = AccessOutcome(rawValue: 3)
    /// The system failed, such as a full disk. Of a change: nothing was changed.
    public static let failed = AccessOutcome(rawValue: 4)

    private static let names: [AccessOutcome: String] = [
        .succeeded: "succeeded", .intended: "intended", .refused: "refused", .failed: "failed",
    ]

    /// The stable name; `outcome-` and the number for one of a newer program.
    public var name: String { Self.names[self] ?? "outcome-\(rawValue)" }
    /// The stable name.
    public var description: String { name }
}

/// What an entry is about, as a keyed hash: entries about the same thing have the same one, and without the log's key
/// it cannot be found by trying names.
public struct AccessSubject: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16

    package init(bytes: Bytes16) { self.bytes = bytes }

    /// - Parameter key: The log key of the entry.
    init(of bytes: [UInt8], _ key: UnsafeRawBufferPointer) {
        self.init(
            bytes: Bytes16(filling: { hash in
                bytes.withUnsafeBytes { BLAKE2b.hash($0, key: key, personalization: .accessSubject, into: hash) }
            }))
    }

    /// 32 hexadecimal digits.
    public var description: String { bytes.hexadecimal }
}
