import CryptoPrimitives
import Glibc
import Sealing
import TestSupport

@testable import KeyVault

/// A vault with recognisable secrets, and the search for them.
struct CanarySandbox {
    let fixture: VaultFixture
    let passphraseText: [UInt8]
    let identity: Identity
    let value: [UInt8]
    /// The files that contain one of the secrets by design.
    let files: Set<String>
    private(set) var search = SecretSearch()

    init() throws {
        fixture = try VaultFixture()
        // The passphrase is typed, so no file but the named one contains it.
        passphraseText = SecureRandom.bytes(count: 40).map { UInt8(ascii: "a") + $0 % 26 }
        identity = try .random()
        value = SecureRandom.bytes(count: 48)
        let files = [fixture.directory.path("passphrase"), fixture.directory.path("identity")]
        try SystemFile.write(files[0], passphraseText + [0x0A])
        try identity.write(to: files[1])
        self.files = Set(files + [fixture.keyFile])
        search.add("value", value)
        search.add("passphrase", passphraseText)
        try addText("identity", of: files[1], from: "SEALED-SECRET-KEY-1")
    }

    var passphraseFile: String { fixture.directory.path("passphrase") }
    var identityFile: String { fixture.directory.path("identity") }

    func passphrase() throws -> Passphrase { try Passphrase(contentsOf: passphraseFile) }

    /// Creates the vault with its key file, the passphrase and the identity's recipient.
    mutating func makeVault() throws -> Vault {
        let credential = VaultCredential.passphrase(try passphrase())
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home,
            slots: [.defaultKeyFile, .passphrase(try passphrase(), .minimum), .recipient(identity.recipient)],
            openingWith: credential)
        try fixture.accept(.identity(identity))
        try addText("key file", of: fixture.keyFile, from: "sealed-key-1 ")
        try addKeys(of: vault)
        return vault
    }

    /// Adds the keys that never leave the vault: both roots and the active sealing key.
    mutating func addKeys(of vault: Vault) throws {
        search.add("service root", vault.keys.service.withUnsafeBytes { Array($0) })
        search.add(
            "person root", try vault.keys.withPerson { root throws(VaultError) in root.withUnsafeBytes { Array($0) } })
        search.add("sealing key", try vault.activeKey().withUnsafeBytes { Array($0) })
    }

    /// Adds a text secret after its mark, and the bytes of a hexadecimal text.
    private mutating func addText(_ name: String, of path: String, from mark: String) throws {
        let text = String(decoding: try SystemFile.read(path), as: UTF8.self)
        guard let start = text.firstRange(of: mark)?.upperBound else { throw NoSecret() }
        let secret = text[start...].prefix { !$0.isWhitespace }
        search.add(name, Array(secret.utf8))
        let digits = secret.compactMap { $0.hexDigitValue.map(UInt8.init) }
        guard digits.count == secret.count else { return }
        search.add(
            "\(name), decoded", stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    struct NoSecret: Error {}

    /// Returns every secret that is found in a wrong place.
    func leaks() -> [String] {
        search.found(below: fixture.directory.path, except: files)
            + SecretSearch.sharedPlaces.flatMap { search.found(below: $0, except: files) }
    }
}
