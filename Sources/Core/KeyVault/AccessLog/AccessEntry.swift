internal import CryptoPrimitives
package import Sealing

/// An entry of an access log: which program did what with a vault, and when (`docs/access-log.md`).
public struct AccessEntry: Hashable, Sendable {
    /// Its number since the vault was created, from 0.
    public let index: UInt64
    /// The wall clock of the process that wrote it, in milliseconds since 1970.
    public let milliseconds: UInt64
    /// The event.
    public let event: AccessEvent
    /// The outcome of the event.
    public let outcome: AccessOutcome
    /// The vault's generation at the event, or the one that the change writes.
    public let generation: UInt64
    /// The period of that generation; 0 if unknown.
    public let period: UInt32
    /// `true` if the generation is the person compartment's.
    public let isPersonCompartment: Bool
    /// The subject of the event; `nil` for the vault as a whole.
    public let subject: AccessSubject?
    /// The process id in the process's own PID namespace.
    public let pid: Int32
    /// The effective user.
    public let uid: UInt32
    /// The program's path as the kernel reported it; empty if it did not.
    public let executable: String
    /// `true` if the path's beginning was cut off because the path is longer than the field.
    public let isExecutableCut: Bool
    /// `true` if its writer had no key: anyone with write access to the file could have written it.
    public let isUnkeyed: Bool
    /// `true` if the remains of an entry torn by a crash were removed before this one.
    public let followsTornEntry: Bool

    /// The number of the log key that authenticates it; 0 without a key.
    public let keyNumber: UInt32
    /// The version of its layout.
    let version: UInt16

    /// For a continuation entry, the code that the chain continues from; `nil` in every other entry.
    let continuedCode: Bytes32?
}

extension AccessEntry {
    /// Parses the 256 bytes of an entry. Any bytes parse; the check of the chain decides whether they are authentic.
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

/// A write of a compartment as entries encode it: bits 0 to 40 are the generation, bits 41 to 62 the period, bit 63 is
/// set for the person compartment.
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

/// The progress of an event at the time of its entry. An open set with stable numbers and names.
public struct AccessOutcome: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number in the log.
    public let rawValue: UInt16

    /// Creates an outcome from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The event was done.
    public static let succeeded = AccessOutcome(rawValue: 1)
    /// The event is about to be done. A vault of the entry's generation or a later one proves that it was done. Of
    /// several such entries with one generation, only the last was done: the changes before it were given up, or their
    /// programs killed.
    public static let intended = AccessOutcome(rawValue: 2)
    /// The event was refused: a wrong credential, a locked vault, an unknown name. A change had no effect.
    public static let refused = AccessOutcome(rawValue: 3)
    /// The system failed, for example with a full disk. A change had no effect.
    public static let failed = AccessOutcome(rawValue: 4)

    private static let names: [AccessOutcome: String] = [
        .succeeded: "succeeded", .intended: "intended", .refused: "refused", .failed: "failed",
    ]

    /// The stable name, or `outcome-` and the number for an outcome of a newer program.
    public var name: String { Self.names[self] ?? "outcome-\(rawValue)" }
    /// The stable name.
    public var description: String { name }
}

/// The subject of an entry, as a keyed hash. Entries with the same subject have the same hash, and without the log's
/// key the subject cannot be found by trying names.
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
