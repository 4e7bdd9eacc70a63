internal import Sealing

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
