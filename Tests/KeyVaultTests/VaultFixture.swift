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
    func create(with credential: VaultCredential = .defaultKeyFile) throws(VaultError) -> Vault {
        try Vault.create(place, with: credential, for: nil, mayExist: false, costs: .minimum)
    }

    func open(with credential: VaultCredential = .defaultKeyFile) throws(VaultError) -> Vault {
        try Vault.open(accessGroup, in: home, with: credential)
    }

    func openOrCreate(
        with credential: VaultCredential = .defaultKeyFile, for container: GroupContainer? = nil
    ) throws(VaultError) -> Vault {
        try Vault.openOrCreate(accessGroup, in: home, with: credential, for: container)
    }

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
