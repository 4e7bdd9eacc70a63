/// The sealed part of a vault, decoded: sections, each with a number and a length (`docs/vault.md`, section 4).
///
/// It holds no key in clear: keys in it are wrapped under class keys.
struct VaultBody: Hashable, Sendable {
    private static let keyringSection: UInt16 = 1
    /// More epochs than any group reaches; a bound before anything is allocated.
    private static let maximumKeys = 4096

    var keyring: [KeyringEntry]

    var encoded: [UInt8] {
        var section = ByteWriter()
        for entry in keyring { entry.encode(into: &section) }
        var writer = ByteWriter()
        writer.append(Self.keyringSection)
        writer.append(UInt16(0))
        writer.append(UInt32(section.bytes.count))
        writer.append(section.bytes)
        return writer.bytes
    }

    init(keyring: [KeyringEntry]) { self.keyring = keyring }

    /// Reads a body. An unknown section is refused: writing the vault back without it would destroy it.
    init(parsing bytes: [UInt8], path: String) throws(VaultError) {
        var reader = ByteReader(bytes[...], path: path)
        var keyring: [KeyringEntry]?
        while !reader.isAtEnd {
            let number: UInt16 = try reader.integer()
            let reserved: UInt16 = try reader.integer()
            let size: UInt32 = try reader.integer()
            let section = try reader.take(Int(size))
            guard number == Self.keyringSection, reserved == 0, keyring == nil else {
                throw VaultError(.unsupported, "open the vault", path, "It has a section \(number).")
            }
            keyring = try Self.keyring(section, path: path)
        }
        self.init(keyring: keyring ?? [])
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
        guard entries.filter({ $0.state == .active }).count <= 1 else {
            throw VaultError.corrupt(path, "It has two active keys.")
        }
        return entries
    }
}
