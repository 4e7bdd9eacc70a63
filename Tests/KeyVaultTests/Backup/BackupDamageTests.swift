import CryptoPrimitives
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a backup with any damage is refused and imports nothing.
@Suite struct BackupDamageTests {
    private let sandbox: BackupSandbox
    private let good: [UInt8]

    init() throws {
        sandbox = try BackupSandbox()
        try sandbox.export(try sandbox.vault())
        good = try SystemFile.read(sandbox.path)
    }

    private func expectRefusal(_ bytes: [UInt8], _ what: String) throws {
        try SystemFile.write(sandbox.path, bytes)
        let code = code { () throws(VaultError) in try sandbox.importBackup() }
        #expect(code == .corrupt || code == .unsupported, "\(what): \(code?.rawValue ?? "brought in")")
    }

    /// The short form flips a different bit in each byte.
    @Test func everyFlippedBitIsRefused() throws {
        for bit in 0..<good.count * 8 where isLongForm || bit % 8 == bit / 8 % 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try expectRefusal(bad, "bit \(bit)")
        }
        #expect(!SystemFile.exists(sandbox.there.directory.path("Vaults")))
        try SystemFile.write(sandbox.path, good)
        #expect(throws: Never.self) { try sandbox.importBackup() }
    }

    @Test func everyTruncationAndOneMoreByteAreRefused() throws {
        for size in 0..<good.count { try expectRefusal(Array(good[..<size]), "\(size) bytes") }
        try expectRefusal(good + [0], "one more byte")
        #expect(!SystemFile.exists(sandbox.there.directory.path("Vaults")))
    }

    @Test(arguments: VaultPlace.leaves) func aVaultThatIsPassedOffAsABackupIsRefused(leaf: String) throws {
        // The role is changed and the checksum is corrected. The code after it requires the root.
        let vault = VaultBytes(try SystemFile.read(sandbox.here.beside(leaf)))
        try expectRefusal(vault.with(CompartmentRole.backup.rawValue, at: 5), "a vault")
    }

    @Test func headAndPartsOfTwoBackupsDoNotMix() throws {
        let second = sandbox.here.directory.path("second")
        try sandbox.export(try sandbox.here.open(with: sandbox.credential), to: second)
        let other = try SystemFile.read(second)
        let parts = VaultBytes(good).parts
        try expectRefusal(Array(good[..<parts] + other[parts...]), "a mix")
    }

    /// Creates a backup that no program writes.
    private func craft(
        register another: Register? = nil, _ change: (inout CompartmentDraft, [UInt8]) throws -> Void
    ) throws {
        try SystemFile.write(sandbox.path, good)
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .everything)
        let file = try CompartmentFile.open(path: sandbox.path)
        let contents = try CompartmentContents(file, root: backup.root, place: sandbox.here.place)
        let register = try #require(file.head.register)
        var draft = CompartmentDraft(contents, root: backup.root, register: register)
        draft.slots = file.head.slots
        try change(&draft, file.head.vaultID)
        let bytes = try draft.file(
            sandbox.here.place, vaultID: file.head.vaultID, register: (another ?? register).signedBytes,
            names: [(.names, [], backup.root)], at: 1)
        try SystemFile.write(sandbox.path, bytes)
    }

    private func expectRefusal(
        _ what: String, _ change: (inout CompartmentDraft, [UInt8]) throws -> Void
    ) throws {
        try craft(change)
        let code = code { () throws(VaultError) in try sandbox.importBackup() }
        #expect(code == .corrupt, "\(what): \(code?.rawValue ?? "brought in")")
    }

    private func key(_ draft: CompartmentDraft, _ vaultID: [UInt8], epoch: UInt32) -> KeyringEntry {
        .random(
            epoch: epoch, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1, vaultID: vaultID,
            root: draft.root)
    }

    @Test func aBackupThatIsSealedAgainIsTaken() throws {
        try craft { _, _ in }
        #expect(throws: Never.self) { try sandbox.importBackup() }
        #expect(try sandbox.opened().value("bank", "anna") == [4, 5, 6])
    }

    private func openingCode() -> VaultError.Code? {
        code { () throws(VaultError) in
            _ = try Backup.open(sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .itemsOnly)
        }
    }

    /// The whole backup is refused, even if nothing of the register is used.
    @Test func theRegisterOfAnotherVaultIsRefused() throws {
        let other = try sandbox.there.create(with: sandbox.credential)
        try craft(register: try other.current().register) { _, _ in }
        #expect(openingCode() == .corrupt)
        try craft { draft, _ in draft.secrets.remove(.personSeed) }
        #expect(openingCode() == .corrupt)
        try craft { _, _ in }
        #expect(openingCode() == nil)
    }

    @Test func anItemThatIsBoundToAMachineIsNotTaken() throws {
        try expectRefusal("a bound item") { draft, vaultID in
            let values = ItemValues(vaultID: vaultID, path: "")
            let root = draft.root
            let sealed = try [1].withRawBytes {
                try values.seal(
                    $0, try ItemForge.name("disk", "anna"), label: [], accessibility: .afterFirstUnlockThisDeviceOnly,
                    createdAt: 1, modifiedAt: 1, root: root)
            }
            var table = try draft.loadItems(sandbox.here.place)
            try table.insert(sealed.entry, path: "")
            draft.items = table
        }
    }

    @Test(arguments: [UInt32(1 << 21) + 1, .max])
    func epochsThatNoGroupReachesAreNotTaken(epoch: UInt32) throws {
        try expectRefusal("epoch \(epoch)") { $0.keyring.append(key($0, $1, epoch: epoch)) }
        // The record of a destroyed key counts as well, because a new key comes after it.
        try expectRefusal("destroyed epoch \(epoch)") {
            var entry = key($0, $1, epoch: epoch)
            entry.destroy()
            $0.keyring.append(entry)
        }
    }

    @Test func aKeyOfTheLastButOneEpochOfItsPeriodIsTaken() throws {
        try craft { $0.keyring.append(key($0, $1, epoch: KeyringEntry.maximumEpoch(period: 1) - 1)) }
        #expect(throws: Never.self) { try sandbox.importBackup() }
    }

    @Test func twoKeysOfOneEpochOrOneIdAreNotTaken() throws {
        try expectRefusal("two of one epoch") { $0.keyring.append(key($0, $1, epoch: 1)) }
        try expectRefusal("one id twice") {
            let twin = key($0, $1, epoch: 2)
            $0.keyring.append(twin)
            $0.keyring.append(
                KeyringEntry(
                    keyID: twin.keyID, epoch: 3, state: .destroyed, protection: twin.protection, createdAt: 1,
                    wrappedKey: [UInt8](repeating: 0, count: twin.wrappedKey.count)))
        }
    }
}
