import AppGroups
import CryptoPrimitives
import Glibc
import KeyVault
import Sealing
import TestSupport

/// A home of its own for one test, with cheap passphrase costs.
struct VaultFixture {
    let directory: TemporaryDirectory
    let home: GroupsHome
    let group: AppGroup
    let accessGroup: AccessGroup

    init(_ identifier: String = "group.com.example.vault") throws {
        directory = try TemporaryDirectory()
        home = GroupsHome(root: directory.path)
        group = try AppGroup(identifier)
        accessGroup = AccessGroup(group)
    }

    var place: VaultPlace { VaultPlace(accessGroup, in: home) }
    var path: String { directory.path("Vaults/\(accessGroup)/vault") }
    var keyFile: String { directory.path("Keys/\(accessGroup).key") }

    /// Argon2id at the least cost that is accepted: tests derive often.
    @discardableResult
    func create(
        with credential: VaultCredential = .defaultKeyFile, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        let slot: NewSlot =
            switch credential {
            case .passphrase(let passphrase): .passphrase(passphrase, .minimum)
            case .identity(let identity): .recipient(identity.recipient)
            case .keyFile(let path): .keyFile(path: path)
            default: .defaultKeyFile
            }
        return try Vault.create(
            accessGroup, in: home, slots: [slot], openingWith: credential, options: options)
    }

    func open(
        with credential: VaultCredential = .defaultKeyFile, options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        try Vault.open(accessGroup, in: home, with: credential, options: options)
    }

    func openOrCreate(with credential: VaultCredential = .defaultKeyFile) throws(VaultError) -> Vault {
        try Vault.openOrCreate(accessGroup, in: home, with: credential)
    }

    /// A file of the vault's directory.
    func beside(_ leaf: String) -> String { directory.path("Vaults/\(accessGroup)/\(leaf)") }

    func keyID(with credential: VaultCredential = .defaultKeyFile) throws -> String {
        try open(with: credential).activeKey().id.description
    }
}

func passphrase(_ text: String) throws -> VaultCredential {
    .passphrase(try Array(text.utf8).withUnsafeBytes { try Passphrase(copying: $0) })
}

/// The code of the error that `body` throws, or nil when it throws none.
func code(_ body: () throws(VaultError) -> Void) -> VaultError.Code? {
    do throws(VaultError) {
        try body()
        return nil
    } catch {
        return error.code
    }
}
