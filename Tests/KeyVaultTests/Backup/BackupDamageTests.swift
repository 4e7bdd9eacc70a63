import CryptoPrimitives
import TestSupport
import Testing

@testable import KeyVault

/// A damaged backup is refused, whatever is wrong with it, and brings nothing in.
@Suite struct BackupDamageTests {
    private let yard: BackupYard
    private let good: [UInt8]

    init() throws {
        yard = try BackupYard()
        try yard.export(try yard.vault())
        good = try SystemFile.read(yard.path)
    }

    private func expectRefusal(_ bytes: [UInt8], _ what: String) throws {
        try SystemFile.write(yard.path, bytes)
        let code = code { () throws(VaultError) in try yard.bringIn() }
        #expect(code == .corrupt || code == .unsupported, "\(what): \(code?.rawValue ?? "brought in")")
    }

    @Test func everyFlippedBitIsRefused() throws {
        for bit in 0..<good.count * 8 {
            var bad = good
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            try expectRefusal(bad, "bit \(bit)")
        }
        #expect(!SystemFile.exists(yard.there.directory.path("Vaults")))
        try SystemFile.write(yard.path, good)
        #expect(throws: Never.self) { try yard.bringIn() }
    }

    @Test func everyTruncationAndOneMoreByteAreRefused() throws {
        for size in 0..<good.count { try expectRefusal(Array(good[..<size]), "\(size) bytes") }
        try expectRefusal(good + [0], "one more byte")
        #expect(!SystemFile.exists(yard.there.directory.path("Vaults")))
    }

    @Test func aVaultThatIsPassedOffAsABackupIsRefused() throws {
        // Its purpose is changed and its checksum made right; the code behind it needs the root.
        var vault = try SystemFile.read(yard.here.path)
        vault[6] = VaultPurpose.export.rawValue
        let size = VaultHeader.fixedSize + vault[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) }
        let checksum = BLAKE2b.hash(Array(vault[..<size]), personalization: .vaultChecksum, count: 32)
        vault.replaceSubrange(size..<size + 32, with: checksum)
        try expectRefusal(vault, "a vault")
    }

    @Test func headerAndBodyOfTwoBackupsDoNotMix() throws {
        let second = yard.here.directory.path("second")
        try yard.export(try yard.here.open(with: yard.credential), to: second)
        let other = try SystemFile.read(second)
        let offset = VaultHeader.fixedSize + good[32..<36].reversed().reduce(0) { $0 << 8 | Int($1) } + 64
        try expectRefusal(Array(good[..<offset] + other[offset...]), "a mix")
    }

    @Test func anItemThatIsBoundToAMachineIsNotTaken() throws {
        let vault = try yard.here.open(with: yard.credential)
        try vault.add("disk", "anna", .afterFirstUnlockThisDeviceOnly)
        try expectRefusal(try crafted(from: vault, try vault.current().body), "a bound item")
    }

    /// No program writes such a backup; it is made here by hand.
    private func crafted(from vault: Vault, _ body: VaultBody) throws -> [UInt8] {
        let header = try vault.current().head.header
        let export = VaultHeader(
            purpose: .export, vaultID: header.vaultID, generation: header.generation, slots: header.slots)
        return try VaultSealing.file(export, body, vault.place, root: vault.keys.root, at: 1)
    }

    private func key(of vault: Vault, epoch: UInt32) throws -> KeyringEntry {
        try KeyringReader(place: vault.place, vaultID: try vault.current().head.header.vaultID).entry(
            for: .random(count: 32), epoch: epoch, state: .decryptOnly, protection: .afterFirstUnlock, createdAt: 1,
            keys: vault.keys)
    }

    @Test(arguments: [UInt32(1 << 21) + 1, .max])
    func epochsThatNoGroupReachesAreNotTaken(epoch: UInt32) throws {
        let vault = try yard.here.open(with: yard.credential)
        var body = try vault.current().body
        body.keyring.append(try key(of: vault, epoch: epoch))
        try expectRefusal(try crafted(from: vault, body), "epoch \(epoch)")
        // The record of a destroyed one counts as well: a new key comes after it.
        body.keyring[body.keyring.count - 1].destroy()
        try expectRefusal(try crafted(from: vault, body), "destroyed epoch \(epoch)")
    }

    @Test func aVaultThatBeganAfterThePlantedClaimsIsTaken() throws {
        let vault = try yard.here.open(with: yard.credential)
        var body = try vault.current().body
        body.keyring.append(try key(of: vault, epoch: KeyBirthGuard.highestBelievedEpoch + 100))
        try SystemFile.write(yard.path, try crafted(from: vault, body))
        #expect(throws: Never.self) { try yard.bringIn() }
    }

    @Test func twoKeysOfOneEpochOrOneIdAreNotTaken() throws {
        let vault = try yard.here.open(with: yard.credential)
        let honest = try vault.current().body
        var body = honest
        body.keyring.append(try key(of: vault, epoch: 1))
        try expectRefusal(try crafted(from: vault, body), "two of one epoch")
        body = honest
        var twin = try key(of: vault, epoch: 2)
        body.keyring.append(twin)
        twin.state = .destroyed
        twin = KeyringEntry(
            keyID: twin.keyID, epoch: 3, state: .destroyed, protection: twin.protection, createdAt: 1,
            wrappedKey: [UInt8](repeating: 0, count: twin.wrappedKey.count))
        body.keyring.append(twin)
        try expectRefusal(try crafted(from: vault, body), "one id twice")
    }
}
