import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport

@testable import KeyVault

/// Two homes of one group, and the identity that opens every vault and backup here. Trying an identity is cheap.
struct BackupSandbox {
    let here: VaultFixture
    /// Another machine, or this machine after a loss.
    let there: VaultFixture
    let person: Identity
    let path: String

    init() throws {
        here = try VaultFixture()
        there = try VaultFixture()
        person = try .random()
        path = here.directory.path("backup")
    }

    var credential: VaultCredential { .identity(person) }
    var slots: [NewSlot] { [.recipient(person.recipient)] }

    /// Creates a vault with one item of each class that may leave its machine.
    func vault() throws -> Vault {
        let vault = try here.create(with: credential)
        try vault.add("mail", "anna", label: "Mail", .afterFirstUnlock, [1, 2, 3])
        try vault.add("bank", "anna", .whenUnlocked, [4, 5, 6])
        return vault
    }

    @discardableResult
    func export(
        _ vault: Vault, _ contents: BackupContents = .everything, to path: String? = nil
    ) throws(VaultError) -> ExportReport {
        try vault.export(to: path ?? self.path, for: slots, contents: contents)
    }

    /// Opens a vault that a backup has created. Its recipient slot was made from public bytes, so its holder accepts it
    /// first.
    func opened(_ fixture: VaultFixture? = nil) throws(VaultError) -> Vault {
        let fixture = fixture ?? there
        do throws(VaultError) { return try fixture.open(with: credential) } catch {
            guard error.code == .notAccepted else { throw error }
            return try fixture.accept(credential)
        }
    }

    @discardableResult
    func importBackup(
        to fixture: VaultFixture? = nil, _ importing: ImportOptions = ImportOptions()
    ) throws(VaultError) -> ImportReport {
        let fixture = fixture ?? there
        return try Vault.import(
            from: path, opening: credential, fixture.accessGroup, in: fixture.home, with: credential, slots: slots,
            importing: importing)
    }
}

/// A sealed record as the group's programs write it.
struct SealedFile {
    let context: BlobContext
    let bytes: [UInt8]

    init(_ fixture: VaultFixture, name: String = "record", under key: SealingKey) {
        context = BlobContext(group: fixture.group.identifier, kind: .record, name: name)
        let description = BlobDescription(record: context, schemaVersion: 1, sequence: 1, sealedAt: 1)
        bytes = [7, 8, 9].withRawBytes { BlobSealer.seal($0, as: description, key: key) }
    }

    func opens(with keys: Keyring) throws(SealingError) -> Bool {
        let opened = try bytes.withRawBytes { blob throws(SealingError) in
            try BlobOpener.open(blob, context: context, keys: keys, limit: 4096)
        }
        return opened.plaintext.withUnsafeBytes { $0.elementsEqual([7, 8, 9]) }
    }

    func isRefused(by keys: Keyring) -> SealingError.Code? {
        do throws(SealingError) {
            _ = try opens(with: keys)
            return nil
        } catch {
            return error.code
        }
    }
}

extension VaultFixture {
    /// Returns the path of a file below the group's container, and creates its directories.
    func inContainer(_ relative: String) throws -> String {
        _ = try GroupContainer.open(group, in: home)
        var path = "Containers/\(group)"
        for segment in relative.split(separator: "/").dropLast() {
            path += "/\(segment)"
            if !SystemFile.exists(directory.path(path)) { try directory.directory(path) }
        }
        return directory.path("Containers/\(group)/\(relative)")
    }

    /// Stores a sealed file below the group's container.
    func put(_ blob: SealedFile, _ relative: String) throws {
        try SystemFile.write(try inContainer(relative), blob.bytes)
    }

    func isInContainer(_ relative: String) -> Bool {
        SystemFile.exists(directory.path("Containers/\(group)/\(relative)"))
    }

    func abandon(_ slots: [NewSlot] = [.defaultKeyFile]) throws(VaultError) -> AbandonReport {
        try Vault.abandon(accessGroup, in: home, slots: slots)
    }

    /// Creates a file in place of another machine's id.
    func otherMachine() throws -> String {
        try directory.file("machine-id", String(repeating: "b", count: 32) + "\n")
        return directory.path("machine-id")
    }

    var hasVault: Bool { SystemFile.exists(path) }
}

extension [UInt8] {
    func contains(text: String) -> Bool { firstRange(of: Array(text.utf8)) != nil }
}
