internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    static let headChecksum = Personalization("SealedState.vsm2")
}

/// The role of a vault file (`docs/spec/vault.md`, section 2).
enum CompartmentRole: UInt8, Sendable, CaseIterable {
    /// Keys and items of the class *after first unlock*.
    case service = 1
    /// Keys and items of the class *when unlocked*, and the register.
    case person = 2
    /// A backup: only imports open it.
    case backup = 3

    /// The file's name in the vault's directory.
    var leaf: String {
        switch self {
        case .service, .backup: "vault"
        case .person: "vault.person"
        }
    }

    /// Creates the role of a class's compartment.
    init(_ protection: ProtectionClass) { self = protection == .whenUnlocked ? .person : .service }
}

/// A part of a compartment file.
struct PartNumber: RawRepresentable, Hashable, Comparable, Sendable {
    let rawValue: UInt16

    static let state = PartNumber(rawValue: 1)
    static let secrets = PartNumber(rawValue: 2)
    static let keyring = PartNumber(rawValue: 3)
    static let items = PartNumber(rawValue: 4)
    static let tokenKeys = PartNumber(rawValue: 5)
    static let values = PartNumber(rawValue: 6)
    static let names = PartNumber(rawValue: 16)
    static let nextNames = PartNumber(rawValue: 17)

    static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

    /// The roles whose files may have the part; empty for a part that this version does not know.
    private var roles: Set<CompartmentRole> {
        switch self {
        case .state, .secrets, .keyring, .items: [.service, .person, .backup]
        case .tokenKeys: [.service, .backup]
        case .values: [.backup]
        case .names: [.person, .backup]
        case .nextNames: [.person]
        default: []
        }
    }

    var isKnown: Bool { !roles.isEmpty }

    /// Returns whether a part that this version knows may be in a file of a role.
    func belongs(to role: CompartmentRole) -> Bool { roles.contains(role) }

    /// Returns the parts that a file of a role always has.
    static func required(_ role: CompartmentRole) -> [PartNumber] {
        switch role {
        case .service: [.state, .secrets, .keyring, .items, .tokenKeys]
        case .person: [.state, .secrets, .keyring, .items, .names]
        case .backup: [.state, .secrets, .keyring, .items, .tokenKeys, .names]
        }
    }
}

/// An entry of the table of parts.
struct PartEntry: Hashable, Sendable {
    static let size = 48

    let number: PartNumber
    let isCritical: Bool
    /// The size of the sealed part in bytes.
    let sealedSize: Int
    /// The commitment of the sealed part. It fixes its key and header, and so its contents.
    let commitment: Bytes32
}

/// The parsed front of a compartment file: everything before the parts. Readers trust nothing in it before they have
/// checked the code.
struct CompartmentHead: Sendable {
    static let magic = Array("SVLT".utf8)
    static let version: UInt8 = 2
    static let fixedSize = 48
    static let maximumSlots = 32
    static let maximumParts = 32
    static let maximumSlotAreaSize = 64 * 1024
    static let maximumRegisterSize = 1 << 20
    static let maximumGeneration: UInt64 = 1 << 40
    /// A bound above any realistic number of rekeys, and low enough to compute all of a vault's names quickly.
    static let maximumPeriod: UInt32 = 1 << 16
    static let checksumSize = 32
    static let codeSize = 32
    /// The longest head.
    static let maximumSize =
        fixedSize + maximumSlotAreaSize + maximumRegisterSize + maximumParts * PartEntry.size + checksumSize + codeSize

    let role: CompartmentRole
    let generation: UInt64
    let vaultID: [UInt8]
    let period: UInt32
    let slots: [KeySlot]
    /// `nil` if the file has no register.
    let register: Register?
    let parts: [PartEntry]
    /// The whole head as it is in the file. Files that begin with the same bytes come from the same write.
    let bytes: [UInt8]

    /// The vault's id as 32 hexadecimal digits.
    var vaultIDText: String { vaultID.withUnsafeBytes { $0.hexadecimal } }

    /// The size of the whole file.
    var fileSize: Int { parts.reduce(bytes.count) { $0 + $1.sealedSize } }

    func entry(_ number: PartNumber) -> PartEntry? { parts.first { $0.number == number } }

    /// Returns the offset of a part in the file.
    func offset(of number: PartNumber) -> Int {
        parts.prefix { $0.number != number }.reduce(bytes.count) { $0 + $1.sealedSize }
    }

    /// Returns whether the code is valid under a root.
    func isAuthentic(_ root: RootKey) -> Bool {
        let covered = bytes.count - Self.codeSize
        return bytes.withRawBytes { bytes in
            let code = root.headerCode(of: UnsafeRawBufferPointer(rebasing: bytes[..<covered]))
            return code.withUnsafeBytes {
                ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: bytes[covered...]))
            }
        }
    }
}

extension CompartmentHead {
    /// Parses the first bytes of a file. More bytes than the head has may follow.
    ///
    /// - Throws: `VaultError` `.corrupt` or `.unsupported`.
    init(parsing file: [UInt8], path: String) throws(VaultError) {
        var reader = ByteReader(file[...], path: path)
        guard try reader.take(4).elementsEqual(Self.magic) else {
            throw .corrupt(path, "It does not begin with the magic SVLT.")
        }
        let version: UInt8 = try reader.integer()
        guard version == Self.version else {
            throw VaultError(.unsupported, "open the vault", path, "It has version \(version); known: 2.")
        }
        let role = CompartmentRole(rawValue: try reader.integer())
        let slotCount = Int(try reader.integer(UInt8.self))
        let partCount = Int(try reader.integer(UInt8.self))
        generation = try reader.integer()
        vaultID = Array(try reader.take(16))
        period = try reader.integer()
        let areaSize = Int(try reader.integer(UInt32.self))
        let registerSize = Int(try reader.integer(UInt32.self))
        let reserved: UInt32 = try reader.integer()
        guard let role, reserved == 0, (1...Self.maximumPeriod).contains(period),
            (1...Self.maximumGeneration).contains(generation),
            (role == .service ? 0 : 1)...Self.maximumSlots ~= slotCount, 1...Self.maximumParts ~= partCount,
            areaSize <= Self.maximumSlotAreaSize, registerSize <= Self.maximumRegisterSize
        else { throw .corrupt(path, "Its header has invalid numbers.") }
        self.role = role
        let area = try reader.take(areaSize)
        let registerBytes = try reader.take(registerSize)
        let table = try reader.take(partCount * PartEntry.size)
        let size = Self.fixedSize + areaSize + registerSize + table.count
        let checksum = try reader.take(Self.checksumSize)
        _ = try reader.take(Self.codeSize)
        bytes = Array(file[..<(size + Self.checksumSize + Self.codeSize)])
        guard Self.checksum(file[..<size]).elementsEqual(checksum) else {
            throw .corrupt(path, "Its checksum is wrong.")
        }
        slots = try KeySlot.parse(area, count: slotCount, role: role, path: path)
        // A planted file must not make an opening test more passphrases than it may try.
        let passphrases = slots.count { $0.kind == .passphrase }
        guard passphrases <= (role == .backup ? 1 : SlotSearch.maximumPassphraseSlots) else {
            throw .corrupt(path, "It has \(passphrases) passphrase slots.")
        }
        parts = try Self.parts(table, role, path)
        register = registerSize == 0 ? nil : try Register(parsing: registerBytes, path: path)
        guard role != .person || register != nil else { throw .corrupt(path, "It has no register.") }
        guard role != .person || (entry(.nextNames) != nil) == (register?.nextRoot != nil) else {
            throw .corrupt(path, "Its lists of names do not match its roots.")
        }
    }

    private static func parts(
        _ table: ArraySlice<UInt8>, _ role: CompartmentRole, _ path: String
    ) throws(VaultError) -> [PartEntry] {
        var reader = ByteReader(table, path: path)
        var parts: [PartEntry] = []
        while !reader.isAtEnd {
            let number = PartNumber(rawValue: try reader.integer())
            let flags: UInt16 = try reader.integer()
            let size: UInt32 = try reader.integer()
            let reserved: UInt64 = try reader.integer()
            let commitment = try reader.take(32).withUnsafeBytes { Bytes32($0) }
            guard reserved == 0, flags <= 1, parts.last.map({ $0.number < number }) ?? true,
                Int(size) <= CompartmentFile.maximumPartSize
            else { throw .corrupt(path, "Its table of parts has invalid numbers.") }
            guard number.isKnown || flags == 0 else {
                throw VaultError(.unsupported, "open the vault", path, "It has an unknown part \(number.rawValue).")
            }
            guard !number.isKnown || (flags == 1 && number.belongs(to: role)) else {
                throw .corrupt(
                    path, "Its part \(number.rawValue) belongs to the other file, or is not marked as critical.")
            }
            parts.append(
                PartEntry(number: number, isCritical: flags == 1, sealedSize: Int(size), commitment: commitment))
        }
        guard PartNumber.required(role).allSatisfy({ number in parts.contains { $0.number == number } }) else {
            throw .corrupt(path, "A part is missing.")
        }
        return parts
    }

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.span.withUnsafeBytes { bytes in
            [UInt8](unsafeUninitializedCapacity: checksumSize) { output, count in
                BLAKE2b.hash(
                    bytes, personalization: .headChecksum,
                    into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: output[..<checksumSize])))
                count = checksumSize
            }
        }
    }
}

/// A compartment to write.
struct CompartmentImage: Sendable {
    var role: CompartmentRole
    var generation: UInt64
    var vaultID: [UInt8]
    var period: UInt32
    var slots: [KeySlot]
    /// The signed bytes; empty if there is no register.
    var register: [UInt8]
    /// Sealed parts, ascending by number.
    var parts: [(entry: PartEntry, bytes: [UInt8])]

    /// Returns the bytes of the whole file.
    ///
    /// - Throws: `VaultError` `.tooLarge`.
    func file(root: RootKey, path: String) throws(VaultError) -> [UInt8] {
        let area = slots.sorted { $0.id < $1.id }.flatMap(\.encoded)
        guard slots.count <= CompartmentHead.maximumSlots, area.count <= CompartmentHead.maximumSlotAreaSize,
            register.count <= CompartmentHead.maximumRegisterSize, parts.count <= CompartmentHead.maximumParts,
            generation <= CompartmentHead.maximumGeneration,
            parts.allSatisfy({ $0.bytes.count <= CompartmentFile.maximumPartSize })
        else { throw VaultError(.tooLarge, "write the vault", path, "It would exceed its maximum size.") }
        var writer = ByteWriter()
        writer.reserve(area.count + register.count + 4096 + parts.reduce(0) { $0 + $1.bytes.count })
        writer.append(CompartmentHead.magic)
        writer.append(CompartmentHead.version)
        writer.append(role.rawValue)
        writer.append(UInt8(slots.count))
        writer.append(UInt8(parts.count))
        writer.append(generation)
        writer.append(vaultID)
        writer.append(period)
        writer.append(UInt32(area.count))
        writer.append(UInt32(register.count))
        writer.append(UInt32(0))
        writer.append(area)
        writer.append(register)
        for part in parts {
            writer.append(part.entry.number.rawValue)
            writer.append(UInt16(part.entry.isCritical ? 1 : 0))
            writer.append(UInt32(part.bytes.count))
            writer.append(UInt64(0))
            part.entry.commitment.withUnsafeBytes { writer.append($0) }
        }
        writer.append(
            BLAKE2b.hash(writer.bytes, personalization: .headChecksum, count: CompartmentHead.checksumSize))
        let code = writer.bytes.withRawBytes { root.headerCode(of: $0) }
        code.withUnsafeBytes { writer.append($0) }
        for part in parts { writer.append(part.bytes) }
        return writer.bytes
    }
}

extension VaultError {
    static func corrupt(_ path: String, _ reason: String) -> VaultError {
        VaultError(.corrupt, "open the vault", path, reason)
    }
}
