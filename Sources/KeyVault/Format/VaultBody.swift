/// The sealed part of a vault, decoded: sections, each with a number and a length (`docs/vault.md`, section 4).
///
/// It holds no key and no value in clear: both are wrapped under class keys.
struct VaultBody: Hashable, Sendable {
    /// Its largest size in bytes: 64 MiB of values, and room for their metadata.
    static let maximumSize = 120 * 1024 * 1024
    /// More epochs than any group reaches; a bound before anything is allocated.
    static let maximumKeys = 4096

    private enum Section: UInt16 {
        case keyring = 1
        case items = 2
        case state = 3
        /// Not in vaults that were made before there were token keys.
        case tokenKeys = 4
    }

    var keyring: [KeyringEntry]
    var items: ItemTable
    var state: VaultState
    var tokenKeys: [TokenKeyEntry] = []

    init(keyring: [KeyringEntry], items: ItemTable = .empty, state: VaultState = VaultState()) {
        self.keyring = keyring
        self.items = items
        self.state = state
    }

    /// Whether anything in it needs a person's slot.
    var holdsWhenUnlocked: Bool {
        keyring.contains { $0.protection == .whenUnlocked && $0.state != .destroyed }
            || items.entries.contains { $0.accessibility.protection == .whenUnlocked }
    }

    var encoded: [UInt8] {
        var keys = ByteWriter()
        for entry in keyring { entry.encode(into: &keys) }
        let items = items.encoded
        var writer = ByteWriter()
        writer.reserve(keys.bytes.count + items.count + 128)
        Self.append(.keyring, keys.bytes, to: &writer)
        Self.append(.items, items, to: &writer)
        Self.append(.state, state.encoded, to: &writer)
        if !tokenKeys.isEmpty { Self.append(.tokenKeys, tokenKeys.encoded, to: &writer) }
        return writer.bytes
    }

    private static func append(_ section: Section, _ contents: [UInt8], to writer: inout ByteWriter) {
        writer.append(section.rawValue)
        writer.append(UInt16(0))
        writer.append(UInt32(contents.count))
        writer.append(contents)
    }

    /// Reads a body. An unknown section is refused: writing the vault back without it would destroy it.
    init(parsing bytes: [UInt8], path: String) throws(VaultError) {
        var reader = ByteReader(bytes[...], path: path)
        var sections: [Section: ArraySlice<UInt8>] = [:]
        while !reader.isAtEnd {
            let number: UInt16 = try reader.integer()
            let reserved: UInt16 = try reader.integer()
            let size: UInt32 = try reader.integer()
            let contents = try reader.take(Int(size))
            guard let section = Section(rawValue: number), reserved == 0, sections[section] == nil else {
                throw VaultError(.unsupported, "open the vault", path, "It has a section \(number).")
            }
            sections[section] = contents
        }
        guard let keys = sections[.keyring], let items = sections[.items], let state = sections[.state] else {
            throw VaultError.corrupt(path, "A section is missing.")
        }
        keyring = try Self.keyring(keys, path: path)
        self.items = try ItemTable(parsing: items, path: path)
        self.state = try VaultState(parsing: state, path: path)
        if let tokens = sections[.tokenKeys] { tokenKeys = try [TokenKeyEntry](parsing: tokens, path: path) }
    }

    private static func keyring(_ section: ArraySlice<UInt8>, path: String) throws(VaultError) -> [KeyringEntry] {
        guard section.count <= maximumKeys * KeyringEntry.encodedSize else {
            throw VaultError.corrupt(path, "It has more keys than a keyring holds.")
        }
        var reader = ByteReader(section, path: path)
        var entries: [KeyringEntry] = []
        while !reader.isAtEnd {
            guard let entry = try KeyringEntry(parsing: &reader) else {
                throw VaultError(.unsupported, "open the vault", path, "It has a key of an unknown state or class.")
            }
            entries.append(entry)
        }
        for protection in ProtectionClass.allCases {
            guard entries.count(where: { $0.state == .active && $0.protection == protection }) <= 1 else {
                throw VaultError.corrupt(path, "It has two active keys of one class.")
            }
        }
        return entries
    }
}
