internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    static let vaultSecretID = Personalization("SealedState.vid2")
    static let nameTag2 = Personalization("SealedState.vnt2")
}

/// The state of a compartment (`docs/spec/vault.md`, section 6).
struct CompartmentState: Hashable, Sendable {
    /// The rotation of *after first unlock*; the register has that of *when unlocked*.
    var rotation = RotationFields()
    /// The head of the access log at the last change.
    var logHead = AccessLogHead.empty
    /// The number of the log key that wrote the head.
    var logKey: UInt32 = 0

    init() {}

    func encoded(_ role: CompartmentRole) -> [UInt8] {
        var writer = ByteWriter()
        if role == .person {
            writer.append([UInt8](repeating: 0, count: RotationFields.encodedSize))
        } else {
            rotation.encode(into: &writer)
        }
        writer.append(logHead.encoded)
        writer.append(logKey)
        writer.append([UInt8](repeating: 0, count: 20))
        return writer.bytes
    }

    init(parsing part: [UInt8], _ role: CompartmentRole, path: String) throws(VaultError) {
        var reader = ByteReader(part[...], path: path)
        if role == .person {
            // The register has the rotation of *when unlocked*.
            guard try reader.take(RotationFields.encodedSize).allSatisfy({ $0 == 0 }) else {
                throw .corrupt(path, "Its state names a rotation of the other class.")
            }
            rotation = RotationFields()
        } else {
            rotation = try RotationFields(parsing: &reader, path: path)
        }
        let head = AccessLogHead(decoding: try reader.take(AccessLogHead.encodedSize))
        logKey = try reader.integer()
        let reserved = try reader.take(20)
        guard let head, reader.isAtEnd, reserved.allSatisfy({ $0 == 0 }) else {
            throw .corrupt(path, "Its state has invalid numbers.")
        }
        guard role != .backup || (head == .empty && logKey == 0) else {
            throw .corrupt(path, "A backup has no access log.")
        }
        logHead = head
    }
}

/// A secret of the vault as a whole, wrapped under its compartment's root.
struct SecretEntry: Hashable, Sendable {
    /// The kinds of secrets.
    enum Kind: UInt16, Sendable {
        case watermarkKey = 1
        /// Numbered by its period.
        case logKey = 2
        /// The seed of the Ed25519 key that signs the register; numbered by its period.
        case personSeed = 3
        /// Only in the person compartment. Number 0 is the present root, 1 the next.
        case serviceRoot = 4

        /// Returns whether a file of a role may have the secret under a number.
        func belongs(to role: CompartmentRole, _ number: UInt32) -> Bool {
            switch self {
            case .watermarkKey: number == 0
            case .logKey: role == .service && number > 0
            case .personSeed: number > 0
            case .serviceRoot: role == .person && number <= 1
            }
        }
    }

    static let size = 96

    let kind: Kind
    let number: UInt32
    let id: [UInt8]
    let wrapped: [UInt8]

    /// Wraps a secret of 32 bytes.
    init(_ kind: Kind, number: UInt32 = 0, _ secret: UnsafeRawBufferPointer, vaultID: [UInt8], root: RootKey) {
        self.kind = kind
        self.number = number
        id = Self.id(of: secret)
        wrapped = root.wrap(secret, for: .secretsKey, bound: Self.bound(vaultID, kind, number, id))
    }

    private static func id(of secret: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { output, count in
            BLAKE2b.hash(
                .none, key: secret, personalization: .vaultSecretID,
                into: UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: output[..<16])))
            count = 16
        }
    }

    /// Unwraps the secret.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.outOfMemory`.
    func secret(vaultID: [UInt8], root: RootKey, path: String) throws(VaultError) -> SecretBytes {
        try SecretBytes(count: WrappedSecrets.size) { secret throws(VaultError) in
            try unwrap(into: secret, vaultID: vaultID, root: root, path: path)
        }
    }

    /// Writes the secret into `output`, which has its size.
    ///
    /// - Throws: `VaultError` `.corrupt`.
    func unwrap(
        into output: UnsafeMutableRawBufferPointer, vaultID: [UInt8], root: RootKey, path: String
    ) throws(VaultError) {
        do throws(CryptoError) {
            try root.unwrap(
                wrapped[...], for: .secretsKey, bound: Self.bound(vaultID, kind, number, id), into: output)
            guard Self.id(of: UnsafeRawBufferPointer(output)) == id else {
                throw CryptoError(.authenticationFailed, "secret")
            }
        } catch { throw .corrupt(path, "One of its secrets does not match its entry.") }
    }

    /// Returns the same secret wrapped under another root.
    func rewrapped(vaultID: [UInt8], from old: RootKey, to new: RootKey, path: String) throws(VaultError) -> SecretEntry
    {
        try secret(vaultID: vaultID, root: old, path: path).withUnsafeBytes {
            SecretEntry(kind, number: number, $0, vaultID: vaultID, root: new)
        }
    }

    private static func bound(_ vaultID: [UInt8], _ kind: Kind, _ number: UInt32, _ id: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(kind.rawValue)
        writer.append(UInt16(0))
        writer.append(number)
        writer.append(id)
        return writer.bytes
    }

    fileprivate func encode(into writer: inout ByteWriter) {
        writer.append(kind.rawValue)
        writer.append(UInt16(0))
        writer.append(number)
        writer.append(id)
        writer.append(wrapped)
    }

    fileprivate init(parsing reader: inout ByteReader, path: String) throws(VaultError) {
        let kind = Kind(rawValue: try reader.integer())
        let reserved: UInt16 = try reader.integer()
        number = try reader.integer()
        id = Array(try reader.take(16))
        wrapped = Array(try reader.take(32 + SecretWrap.overhead))
        guard let kind else { throw VaultError(.unsupported, "open the vault", path, "It has an unknown secret.") }
        guard reserved == 0 else { throw .corrupt(path, "Its secrets have invalid numbers.") }
        self.kind = kind
    }
}

/// The secrets of a compartment.
struct SecretTable: Hashable, Sendable {
    private(set) var entries: [SecretEntry] = []

    init() {}

    subscript(kind: SecretEntry.Kind, number: UInt32) -> SecretEntry? {
        entries.first { $0.kind == kind && $0.number == number }
    }

    /// Returns the last entry of a kind: the one in force.
    func last(_ kind: SecretEntry.Kind) -> SecretEntry? { entries.last { $0.kind == kind } }

    func all(_ kind: SecretEntry.Kind) -> [SecretEntry] { entries.filter { $0.kind == kind } }

    /// Adds an entry, or replaces the one of the same kind and number.
    mutating func set(_ entry: SecretEntry) {
        remove(entry.kind, entry.number)
        entries.append(entry)
        entries.sort { ($0.kind.rawValue, $0.number) < ($1.kind.rawValue, $1.number) }
    }

    mutating func remove(_ kind: SecretEntry.Kind, _ number: UInt32? = nil) {
        entries.removeAll { $0.kind == kind && (number == nil || $0.number == number) }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        for entry in entries { entry.encode(into: &writer) }
        return writer.bytes
    }

    /// - Throws: `VaultError` `.corrupt`, also for a secret that belongs to a file of another role; `.unsupported`.
    init(parsing part: [UInt8], _ role: CompartmentRole, path: String) throws(VaultError) {
        var reader = ByteReader(part[...], path: path)
        while !reader.isAtEnd { entries.append(try SecretEntry(parsing: &reader, path: path)) }
        guard entries.allSatisfy({ $0.kind.belongs(to: role, $0.number) }) else {
            throw .corrupt(path, "It has a secret of the other file.")
        }
        let isAscending = zip(entries, entries.dropFirst()).allSatisfy {
            ($0.kind.rawValue, $0.number) < ($1.kind.rawValue, $1.number)
        }
        guard isAscending else { throw .corrupt(path, "Its secrets are out of order.") }
    }
}

/// The names of all items and records of *when unlocked*, as keyed tags in ascending order.
struct NameList: Sendable {
    private(set) var tags: Set<Bytes16> = []

    init() {}

    func contains(_ tag: Bytes16) -> Bool { tags.contains(tag) }

    /// - Returns: `false` if the list already contained the tag.
    mutating func insert(_ tag: Bytes16) -> Bool { tags.insert(tag).inserted }

    mutating func remove(_ tag: Bytes16) { tags.remove(tag) }

    var encoded: [UInt8] {
        tags.map { tag in tag.withUnsafeBytes { Array($0) } }.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(
            \.self)
    }

    /// - Parameter register: The person fields with the expected digest; `nil` in a backup, where the file's code
    ///   covers the list.
    /// - Throws: `VaultError` `.corrupt` for another list, and for tags that are out of order or duplicated.
    init(parsing part: [UInt8], register: Register.Person?, path: String) throws(VaultError) {
        let isMeant =
            register.map { part.count == Int($0.nameCount) * 16 && Register.digest(ofNames: part) == $0.namesDigest }
            ?? part.count.isMultiple(of: 16)
        guard isMeant else {
            throw .corrupt(path, "Its list of names is not the one that its register names.")
        }
        var last: ArraySlice<UInt8> = []
        for start in stride(from: 0, to: part.count, by: 16) {
            let tag = part[start..<start + 16]
            guard last.lexicographicallyPrecedes(tag) else {
                throw .corrupt(path, "Its list of names is out of order, or has a duplicate.")
            }
            tags.insert(tag.withUnsafeBytes { Bytes16($0) })
            last = tag
        }
    }
}

/// Computes the tags of a vault's name list.
struct NameTagger: Sendable {
    private let key: SecretBytesBox

    init(watermarkKey: borrowing SecretBytes) { key = SecretBytesBox(watermarkKey.derived(.nameTagsKey)) }

    func tag(_ item: ItemName) -> Bytes16 {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(UInt16(item.service.count))
        writer.append(item.service)
        writer.append(item.account)
        return tag(writer.bytes)
    }

    func tag(record name: String) -> Bytes16 { tag([2] + Array(name.utf8)) }

    private func tag(_ input: [UInt8]) -> Bytes16 {
        key.secret.withUnsafeBytes { key in
            Bytes16(filling: { output in
                input.withRawBytes { BLAKE2b.hash($0, key: key, personalization: .nameTag2, into: output) }
            })
        }
    }
}

/// A secret with several owners.
final class SecretBytesBox: Sendable {
    let secret: SecretBytes
    init(_ secret: consuming SecretBytes) { self.secret = secret }
}

/// Reads the fields of a byte string, little-endian; a read past its end throws `.corrupt`.
struct ByteReader {
    private var rest: ArraySlice<UInt8>
    private let path: String

    /// - Parameter path: The vault's path, for the error.
    init(_ bytes: ArraySlice<UInt8>, path: String) {
        rest = bytes
        self.path = path
    }

    var isAtEnd: Bool { rest.isEmpty }
    /// The number of bytes left.
    var count: Int { rest.count }

    mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(VaultError) -> Value {
        let bytes = try take(MemoryLayout<Value>.size)
        return bytes.reversed().reduce(into: Value.zero) { $0 = $0 << 8 | Value(truncatingIfNeeded: $1) }
    }

    mutating func take(_ count: Int) throws(VaultError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw .corrupt(path, "It is truncated.") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

/// Builds a byte string field by field, little-endian.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    /// Reserves room for `count` more bytes.
    mutating func reserve(_ count: Int) { bytes.reserveCapacity(bytes.count + count) }

    mutating func append<Value: FixedWidthInteger>(_ value: Value) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ other: some Sequence<UInt8>) { bytes.append(contentsOf: other) }
}
