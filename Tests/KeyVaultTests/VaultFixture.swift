import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// A separate home for one test, with cheap passphrase costs.
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

    /// Creates a vault with the lowest accepted Argon2id costs, because tests derive often.
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

    /// Returns the path of a file in the vault's directory.
    func beside(_ leaf: String) -> String { directory.path("Vaults/\(accessGroup)/\(leaf)") }

    func keyID(with credential: VaultCredential = .defaultKeyFile) throws -> String {
        try open(with: credential).activeKey().id.description
    }
}

func passphrase(_ text: String) throws -> VaultCredential {
    .passphrase(try Array(text.utf8).withUnsafeBytes { try Passphrase(copying: $0) })
}

/// Returns the code of the error that `body` throws, or `nil`.
func code(_ body: () throws(VaultError) -> Void) -> VaultError.Code? {
    do throws(VaultError) {
        try body()
        return nil
    } catch {
        return error.code
    }
}

/// The rotation of *after first unlock*, which most tests mean.
extension Vault {
    /// - Returns: The epoch of the rotation.
    @discardableResult
    func beginRotation() throws(VaultError) -> UInt32 {
        guard let epoch = try beginRotation(of: .afterFirstUnlock) else {
            throw VaultError(.noActiveKey, "rotate", path, "It has no key.")
        }
        return epoch
    }

    @discardableResult
    func completeRotation(to epoch: UInt32) throws(VaultError) -> Bool {
        try completeRotation(of: .afterFirstUnlock, to: epoch)
    }

    func rotationState() throws(VaultError) -> RotationState { try rotationState(of: .afterFirstUnlock) }
}

extension VaultFixture {
    /// Both compartments and the directories beside them, to be restored later.
    struct Copy {
        var files: [String: [UInt8]]
    }

    /// The compartment of persons.
    var personPath: String { beside("vault.person") }

    func copy() throws -> Copy {
        var files: [String: [UInt8]] = [:]
        for leaf in VaultPlace.leaves where SystemFile.exists(beside(leaf)) {
            files[leaf] = try SystemFile.read(beside(leaf))
        }
        return Copy(files: files)
    }

    /// Restores the files of a copy. A leaf that it lacks is removed.
    func restore(_ copy: Copy, _ leaves: [String] = VaultPlace.leaves) throws {
        for leaf in leaves {
            if let bytes = copy.files[leaf] { try SystemFile.write(beside(leaf), bytes) } else { unlink(beside(leaf)) }
        }
    }

    /// Removes this user's memory of the vault, except its watermarks.
    func forgetPlaces() throws {
        let places = directory.path("Places")
        guard SystemFile.exists(places) else { return }
        for name in try SystemFile.names(places) { unlink("\(places)/\(name)") }
    }

    /// Removes this user's memory of the vault, as for a new user.
    func forget() throws {
        try forgetPlaces()
        let marks = directory.path("Watermarks")
        if SystemFile.exists(marks) { for name in try SystemFile.names(marks) { unlink("\(marks)/\(name)") } }
        for name in try SystemFile.names(beside("")) where name.hasPrefix(".marks.") { unlink(beside(name)) }
    }

    /// Accepts the vault at the first contact of a holder whose slot has no memory code yet.
    @discardableResult
    func accept(_ credential: VaultCredential) throws(VaultError) -> Vault {
        try Vault.accept(accessGroup, in: home, with: credential)
    }
}

/// Returns the value, or throws a `VaultError` if it is missing, for closures with typed throws.
func present<Value>(_ value: Value?) throws(VaultError) -> Value {
    guard let value else { throw VaultError(.absent, "test", "a value", "It is nil.") }
    return value
}

extension VaultFixture {
    /// Writes the service compartment as a holder of its root can.
    func plant(_ change: (inout VaultDraft) throws(VaultError) -> Void) throws {
        let vault = try open()
        let contents = try vault.current()
        var draft = try VaultDraft(contents, root: vault.keys.service, person: nil, slotID: nil, place: vault.place)
        try change(&draft)
        try SystemFile.write(path, try draft.file(.service))
    }
}

extension VaultDraft {
    /// Adds decrypt-only keys of *after first unlock* up to this count.
    mutating func fillKeyring(upTo count: Int) {
        var epoch = service.keyring.map(\.epoch).max() ?? 0
        while service.keyring.count < count {
            epoch += 1
            service.keyring.append(
                .random(
                    epoch: epoch, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1,
                    vaultID: vaultID, root: service.root))
        }
    }
}
