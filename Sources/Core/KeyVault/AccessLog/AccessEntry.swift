internal import CryptoPrimitives
internal import Glibc
package import Sealing

/// An entry of an access log: which program did what with a vault, and when (`docs/spec/access-log.md`).
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

/// The caller's part of an entry. The log adds the process, the time, and the entry's place in the chain.
struct AccessDraft: Sendable {
    var event: AccessEvent
    var outcome = AccessOutcome.succeeded
    var generation: UInt64 = 0
    var subject: AccessSubject?
    var executable = ExecutableName.current

    /// Writes the entry that follows the last one.
    ///
    /// - Parameters:
    ///   - space: 512 bytes: the last entry as it is in the file, or zeros if there is no entry. The new entry goes
    ///     behind it.
    ///   - key: The log key; empty for an unkeyed entry.
    ///   - number: The key's number; 0 for an unkeyed entry.
    /// - Returns: The entry's code.
    func write(
        into space: UnsafeMutableRawBufferPointer, index: UInt64, followsTorn: Bool, key: UnsafeRawBufferPointer,
        number: UInt32
    ) -> Bytes32 {
        typealias Layout = AccessEntryLayout
        let last = UnsafeRawBufferPointer(space.part(0, Layout.size))
        let entry = space.part(Layout.size, Layout.size)
        entry.initializeMemory(as: UInt8.self, repeating: 0)
        entry.put(index, at: Layout.index)
        entry.put(WallClock.milliseconds(), at: Layout.milliseconds)
        entry.put(event.rawValue, at: Layout.event)
        entry.put(outcome.rawValue, at: Layout.outcome)
        entry.put(RunningProcess.pid, at: Layout.pid)
        entry.put(RunningProcess.uid, at: Layout.uid)
        entry.put(generation, at: Layout.generation)
        entry.storeBytes(of: subject?.bytes ?? .zero, toByteOffset: Layout.subject, as: Bytes16.self)
        entry.put(Layout.version, at: Layout.versionField)
        entry.put(number, at: Layout.keyNumber)
        var flags = (key.isEmpty ? Layout.unkeyed : 0) | (followsTorn ? Layout.followsTornEntry : 0)
        if event == .continued {
            entry.part(Layout.executable, Layout.codeSize).copyMemory(from: last.part(Layout.bodySize, Layout.codeSize))
        } else {
            entry.put(UInt16(executable.bytes.count), at: Layout.executableSize)
            entry.part(Layout.executable, executable.bytes.count).copyBytes(from: executable.bytes)
            if executable.isCut { flags |= Layout.executableCut }
        }
        entry.put(flags, at: Layout.flags)
        let chained = UnsafeRawBufferPointer(space.part(Layout.bodySize, Layout.codeSize + Layout.bodySize))
        let code = Layout.code(of: chained, key: key)
        entry.storeBytes(of: code, toByteOffset: Layout.bodySize, as: Bytes32.self)
        return code
    }
}

/// A program's path cut to the size of the field. The end is kept, because it says more than the beginning.
struct ExecutableName: Hashable, Sendable {
    static let maximumSize = 160

    let bytes: ArraySlice<UInt8>
    /// `true` if the beginning is missing.
    let isCut: Bool

    /// The name of this process's executable.
    static let current = ExecutableName(path: RunningProcess.executable)

    init(path: [UInt8]) {
        isCut = path.count > Self.maximumSize
        // Never cut within a UTF-8 character.
        bytes = isCut ? path.suffix(Self.maximumSize).drop { $0 & 0xC0 == 0x80 } : path[...]
    }
}

/// The process as the log records it. A dishonest process can falsify these values.
enum RunningProcess {
    /// Read each time, because a fork changes it.
    static var pid: UInt32 { UInt32(bitPattern: getpid()) }
    static var uid: UInt32 { geteuid() }

    /// The target of `/proc/self/exe`, proc(5): the bytes of a path; empty without /proc. Read once, because an `exec`
    /// starts the program again.
    static let executable: [UInt8] = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
        count = buffer.withMemoryRebound(to: CChar.self) { space in
            space.baseAddress.map { max(0, readlink("/proc/self/exe", $0, space.count)) } ?? 0
        }
    }
}

extension Personalization {
    /// The code of an entry, keyed by the log key.
    static let accessEntry = Personalization("SealedState.ale1")
    /// The code of an entry by a writer without a key.
    static let accessUnkeyedEntry = Personalization("SealedState.alu1")
    /// The hash of an entry's subject.
    static let accessSubject = Personalization("SealedState.als1")
}

/// The offsets of the fields in an entry's 256 bytes (`docs/spec/access-log.md`). Numbers are little-endian.
enum AccessEntryLayout {
    static let size = 256
    static let version: UInt16 = 1
    static let codeSize = 32
    /// Everything before the code.
    static let bodySize = 224

    static let index = 0
    static let milliseconds = 8
    static let event = 16
    static let outcome = 18
    static let flags = 20
    static let pid = 24
    static let uid = 28
    static let generation = 32
    static let subject = 40
    static let versionField = 56
    static let executableSize = 58
    /// The number of the log key: the period in which it was created.
    static let keyNumber = 60
    static let executable = 64

    static let unkeyed: UInt32 = 1
    static let executableCut: UInt32 = 2
    static let followsTornEntry: UInt32 = 4

    /// Returns the code of an entry.
    ///
    /// - Parameters:
    /// - chained: 256 bytes: the previous code, then the entry's body, as they are adjacent in a file.
    ///   - key: The log key; empty for an unkeyed entry.
    static func code(of chained: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bytes32 {
        let use: Personalization = key.isEmpty ? .accessUnkeyedEntry : .accessEntry
        return Bytes32(filling: { BLAKE2b.hash(chained, key: key, personalization: use, into: $0) })
    }
}

extension UnsafeRawBufferPointer {
    /// Returns a little-endian number.
    func number<Value: FixedWidthInteger>(at offset: Int, as _: Value.Type = Value.self) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    func part(_ offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: self[offset..<offset + count])
    }
}

extension UnsafeMutableRawBufferPointer {
    func put(_ value: some FixedWidthInteger, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
    }

    func part(_ offset: Int, _ count: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: self[offset..<offset + count])
    }
}

/// An event in the access log of a vault. An open set: a newer program may have written others.
///
/// Numbers and names are stable; `docs/spec/access-log.md` lists them.
public struct AccessEvent: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number in the log.
    public let rawValue: UInt16

    /// Creates an event from its number.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A slot opened the vault.
    public static let opened = AccessEvent(rawValue: 1)
    /// No offered credential opened the vault.
    public static let openFailed = AccessEvent(rawValue: 2)
    /// The vault was created.
    public static let created = AccessEvent(rawValue: 3)
    /// A person made the keys available for a while.
    public static let unlocked = AccessEvent(rawValue: 4)
    /// The keys were withdrawn.
    public static let locked = AccessEvent(rawValue: 5)

    /// An item's value was read.
    public static let itemRead = AccessEvent(rawValue: 16)
    /// An item was added.
    public static let itemAdded = AccessEvent(rawValue: 17)
    /// An item's value or description was changed.
    public static let itemUpdated = AccessEvent(rawValue: 18)
    /// An item was deleted.
    public static let itemDeleted = AccessEvent(rawValue: 19)

    /// A slot was added.
    public static let slotAdded = AccessEvent(rawValue: 32)
    /// A slot was removed.
    public static let slotRemoved = AccessEvent(rawValue: 33)
    /// A slot was replaced by another, such as by a new passphrase.
    public static let slotReplaced = AccessEvent(rawValue: 34)

    /// A sealing key was added.
    public static let keyAdded = AccessEvent(rawValue: 48)
    /// A sealing key no longer seals; it still opens.
    public static let keyRetired = AccessEvent(rawValue: 49)
    /// A sealing key was removed permanently.
    public static let keyDestroyed = AccessEvent(rawValue: 50)
    /// A rotation of sealing keys began.
    public static let rotationBegun = AccessEvent(rawValue: 51)
    /// A rotation of sealing keys was completed.
    public static let rotationCompleted = AccessEvent(rawValue: 52)

    /// The vault's content was written to an export.
    public static let exported = AccessEvent(rawValue: 64)
    /// Content of an export was imported.
    public static let imported = AccessEvent(rawValue: 65)
    /// A person gave up content that could no longer be opened.
    public static let abandoned = AccessEvent(rawValue: 66)
    /// A person accepted a state that was refused, such as a restored older vault.
    public static let accepted = AccessEvent(rawValue: 67)

    /// The log rolled over, and the chain continues from the previous file. The log writes this entry itself.
    static let continued = AccessEvent(rawValue: 80)

    private static let names: [AccessEvent: String] = [
        .opened: "opened", .openFailed: "openFailed", .created: "created", .unlocked: "unlocked", .locked: "locked",
        .itemRead: "itemRead", .itemAdded: "itemAdded", .itemUpdated: "itemUpdated", .itemDeleted: "itemDeleted",
        .slotAdded: "slotAdded", .rekeyed: "rekeyed", .slotRenewed: "slotRenewed", .certified: "certified",
        .slotRemoved: "slotRemoved",
        .slotReplaced: "slotReplaced", .keyAdded: "keyAdded",
        .keyRetired: "keyRetired", .keyDestroyed: "keyDestroyed", .rotationBegun: "rotationBegun",
        .rotationCompleted: "rotationCompleted", .exported: "exported", .imported: "imported",
        .abandoned: "abandoned", .accepted: "accepted", .continued: "continued",
    ]

    /// Every event that this program knows, by number.
    public static let known: [AccessEvent] = names.keys.sorted { $0.rawValue < $1.rawValue }

    /// The stable name, or `event-` and the number for an event of a newer program.
    public var name: String { Self.names[self] ?? "event-\(rawValue)" }
    /// The stable name.
    public var description: String { name }

    /// Creates an event from its stable name.
    public init?(name: String) {
        guard let event = Self.names.first(where: { $0.value == name })?.key else { return nil }
        self = event
    }
}
