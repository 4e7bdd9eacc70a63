import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import KeyVault

/// A switch that two threads share.
private final class Flag: Sendable {
    let isSet = Atomic(false)
}

/// Tests of the contents of a backup, and of data that it must never contain.
@Suite struct ExportTests {
    private let sandbox: BackupSandbox

    init() throws { sandbox = try BackupSandbox() }

    @Test func aBackupHoldsEverythingThatMayLeaveItsMachine() throws {
        let vault = try sandbox.vault()
        let report = try sandbox.export(vault)
        #expect(report.itemCount == 2)
        #expect(report.keyCount == 1)
        #expect(report.leftOut.isEmpty)
        #expect(try SystemFile.read(sandbox.path).count == report.size)
    }

    @Test func thisDeviceOnlyItemsAreLeftOutAndNamed() throws {
        let vault = try sandbox.vault()
        try vault.add("disk", "anna", .afterFirstUnlockThisDeviceOnly)
        try vault.add("pin", "anna", .whenUnlockedThisDeviceOnly)
        let report = try sandbox.export(vault)
        #expect(report.leftOut.map(\.service) == ["disk", "pin"])
        #expect(report.itemCount == 2)
        try sandbox.importBackup()
        #expect(try sandbox.opened().items().map(\.service) == ["bank", "mail"])
    }

    @Test(arguments: [BackupContents.keysOnly, .itemsOnly])
    func aPartAloneHoldsThatPart(contents: BackupContents) throws {
        let vault = try sandbox.vault()
        try vault.add("disk", "anna", .afterFirstUnlockThisDeviceOnly)
        let report = try sandbox.export(vault, contents)
        #expect(report.itemCount == (contents == .keysOnly ? 0 : 2))
        #expect(report.leftOut.count == (contents == .keysOnly ? 0 : 1))
        #expect(report.keyCount == (contents == .keysOnly ? 1 : 0))
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .everything)
        #expect(backup.items.count == report.itemCount)
        #expect(backup.keyring.count == report.keyCount)
    }

    @Test func lockedItemsPreventABackup() throws {
        let slots = sandbox.slots + [.defaultKeyFile]
        try Vault.create(
            sandbox.here.accessGroup, in: sandbox.here.home, slots: slots, openingWith: sandbox.credential
        ).add("bank", "anna", .whenUnlocked)
        let unattended = try sandbox.here.open(with: .defaultKeyFile)
        #expect(code { () throws(VaultError) in try sandbox.export(unattended) } == .locked)
        #expect(!SystemFile.exists(sandbox.path))
        #expect(code { () throws(VaultError) in try sandbox.export(unattended, .keysOnly) } == .locked)
    }

    @Test func aLockThatComesBeforeTheBackupCounts() throws {
        let vault = try sandbox.vault()
        try Vault.lock(sandbox.here.accessGroup, in: sandbox.here.home, everything: false)
        #expect(code { () throws(VaultError) in try sandbox.export(vault) } == .locked)
        #expect(!SystemFile.exists(sandbox.path))
    }

    @Test func onlyWhatAPersonKeepsElsewhereOpensABackup() throws {
        let vault = try sandbox.here.create()
        let refused: [[NewSlot]] = [
            [], [.defaultKeyFile], [.keyFile(path: sandbox.here.keyFile)], [.systemdCredential(name: nil)],
            [.recipient(sandbox.person.recipient, unattended: true)], sandbox.slots + [.defaultKeyFile],
            [NewSlot](repeating: .recipient(sandbox.person.recipient), count: 33),
            // Another passphrase would double the information from an opening about guesses.
            [.passphrase(try Passphrase("one"), .minimum), .passphrase(try Passphrase("two"), .minimum)],
        ]
        for slots in refused {
            let code = code { () throws(VaultError) in _ = try vault.export(to: sandbox.path, for: slots) }
            #expect(code == .invalidArgument, "\(slots)")
        }
        #expect(!SystemFile.exists(sandbox.path))
    }

    @Test func aPassphraseOpensABackup() throws {
        guard case .passphrase(let words) = try passphrase("correct horse") else { return }
        let vault = try sandbox.vault()
        _ = try vault.export(to: sandbox.path, for: [.passphrase(words, .minimum)])
        func open(_ credential: VaultCredential) -> VaultError.Code? {
            code { () throws(VaultError) in
                _ = try Backup.open(sandbox.path, with: credential, for: sandbox.here.place, taking: .everything)
            }
        }
        #expect(open(.passphrase(words)) == nil)
        #expect(open(try passphrase("incorrect horse")) == .wrongPassphrase)
        #expect(open(sandbox.credential) == .wrongIdentity)
        #expect(open(.automatic) == .locked)
    }

    @Test func nothingThatIsThereIsWrittenOver() throws {
        let vault = try sandbox.vault()
        try SystemFile.write(sandbox.path, [1])
        #expect(code { () throws(VaultError) in try sandbox.export(vault) } == .alreadyExists)
        #expect(try SystemFile.read(sandbox.path) == [1])
        try sandbox.here.directory.link("dangling", to: sandbox.here.directory.path("nowhere"))
        let dangling = sandbox.here.directory.path("dangling")
        #expect(code { () throws(VaultError) in try sandbox.export(vault, to: dangling) } == .alreadyExists)
        #expect(!SystemFile.exists(sandbox.here.directory.path("nowhere")))
    }

    @Test(arguments: ["", "/", "missing/backup", "a/..", "slash/"])
    func aPathThatNamesNoNewFileIsRefused(name: String) throws {
        let vault = try sandbox.vault()
        let path = name.isEmpty || name == "/" ? name : sandbox.here.directory.path(name)
        let code = code { () throws(VaultError) in try sandbox.export(vault, to: path) }
        #expect(code == .invalidArgument || code == .file)
    }

    @Test func aBackupIsForItsOwnerAloneRegardlessOfTheUmask() throws {
        let vault = try sandbox.vault()
        let mask = umask(0)
        defer { umask(mask) }
        try sandbox.export(vault)
        #expect(try SystemFile.mode(sandbox.path) == 0o600)
    }

    @Test func nothingInABackupIsInPlaintext() throws {
        let canaries = ["canary-service-9f", "canary-account-3b", "canary-label-77", "canary-value-c4"]
        let vault = try sandbox.here.create(with: sandbox.credential)
        try vault.add(canaries[0], canaries[1], label: canaries[2], Array(canaries[3].utf8))
        try sandbox.export(vault)
        let bytes = try SystemFile.read(sandbox.path)
        for canary in canaries { #expect(!bytes.contains(text: canary), "\(canary)") }
        #expect(!bytes.contains(text: sandbox.here.group.identifier))
        #expect(bytes.contains(text: "SVLT"))
    }

    @Test func aBackupGivesNothingThatOpensTheVault() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .everything)
        let person = try vault.keys.withPerson { root throws(VaultError) in root.commitment }
        #expect(![vault.keys.service.commitment, person].contains(backup.root.commitment))
        let file = try CompartmentFile.open(path: sandbox.path)
        let contents = try CompartmentContents(file, root: backup.root, place: sandbox.here.place)
        #expect(contents.secrets.all(.serviceRoot).isEmpty && contents.secrets.all(.logKey).isEmpty)
        #expect(!contents.secrets.all(.personSeed).isEmpty)
    }

    /// Only a whole backup can be restored as the same vault, because it has the key by which users recognise the
    /// vault.
    @Test(arguments: [BackupContents.keysOnly, .itemsOnly])
    func aPartHasNoPersonKeyAndNoRegister(contents: BackupContents) throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault, contents)
        let file = try CompartmentFile.open(path: sandbox.path)
        #expect(file.head.register == nil)
        let backup = try Backup.open(
            sandbox.path, with: sandbox.credential, for: sandbox.here.place, taking: .everything)
        let opened = try CompartmentContents(file, root: backup.root, place: sandbox.here.place)
        #expect(opened.secrets.entries.isEmpty)
        try sandbox.importBackup()
        #expect(try sandbox.opened().vaultID != vault.vaultID)
    }

    @Test func twoBackupsOfOneVaultHaveNothingInCommonButTheirRegister() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        let second = sandbox.here.directory.path("second")
        try sandbox.export(vault, to: second)
        let (a, b) = (try SystemFile.read(sandbox.path), try SystemFile.read(second))
        #expect(a.count == b.count)
        let bytes = VaultBytes(a)
        #expect(a[bytes.register] == b[bytes.register])
        let rest = [bytes.slots.lowerBound + 56..<bytes.slots.upperBound, bytes.checksum.lowerBound..<a.count]
        for range in rest { #expect(zip(a[range], b[range]).count { $0 == $1 } < range.count / 3) }
    }

    @Test func theAccessLogKnowsOfEveryBackup() throws {
        let vault = try sandbox.vault()
        try sandbox.export(vault)
        #expect(code { () throws(VaultError) in try sandbox.export(vault) } == .alreadyExists)
        var seen: [AccessOutcome] = []
        _ = try vault.log.read(noted: nil) { entry, isAuthentic in
            if entry.event == .exported && isAuthentic { seen.append(entry.outcome) }
        }
        #expect(seen == [.intended, .succeeded, .failed])
    }

    @Test(.enabled(if: SmallFileSystem.isPossible)) func aFullDiskLeavesNothing() throws {
        let vault = try sandbox.vault()
        try vault.add("large", "value", .afterFirstUnlock, [UInt8](repeating: 1, count: 100_000))
        let small = try SmallFileSystem(at: sandbox.here.directory.directory("small"))
        do throws(VaultError) {
            try sandbox.export(vault, to: "\(small.path)/backup")
            Issue.record("it was written")
        } catch {
            #expect(error.code == .file)
            #expect(error.underlying?.code == .noSpace)
        }
        #expect(try SystemFile.names(small.path).isEmpty)
    }

    /// A backup with an unreadable value would only fail when it is needed.
    @Test(
        arguments: [Accessibility.afterFirstUnlock, .whenUnlocked], ["missing", "flipped", "cut", "swapped", "magic"])
    func aDamagedValueFileIsNotBackedUp(accessibility: Accessibility, fault: String) throws {
        let vault = try sandbox.vault()
        for account in ["a", "b"] {
            try vault.add("large", account, accessibility, [UInt8](account.utf8) + [UInt8](repeating: 1, count: 300))
        }
        let folder = sandbox.here.beside(accessibility.protection == .whenUnlocked ? "values.person" : "values")
        let paths = try SystemFile.names(folder).map { "\(folder)/\($0)" }
        let bytes = try SystemFile.read(paths[0])
        switch fault {
        case "missing": unlink(paths[0])
        case "flipped": try SystemFile.write(paths[0], bytes.dropLast() + [bytes[bytes.count - 1] ^ 1])
        case "cut": try SystemFile.write(paths[0], bytes.dropLast())
        case "swapped": try SystemFile.write(paths[0], SystemFile.read(paths[1]))
        default: try SystemFile.write(paths[0], [1] + bytes.dropFirst())
        }
        #expect(code { () throws(VaultError) in try sandbox.export(vault) } == .corrupt)
        #expect(!SystemFile.exists(sandbox.path))
        #expect(throws: Never.self) { try sandbox.export(vault, .keysOnly) }
    }

    // writer: update z, remove the old value, update z, ...
    // backup: read the index, read a, b, ..., z: gone; read the index again, ...
    @Test func aWriterNeverMakesABackupFailAndNeverGetsIntoHalfOfOne() throws {
        let vault = try sandbox.vault()
        let value = [UInt8](repeating: 1, count: 20_000)
        for index in 0..<12 { try vault.add("large", "\(index)", .afterFirstUnlock, value) }
        try vault.add("large", "z", .afterFirstUnlock, value)
        let writer = try sandbox.here.open(with: sandbox.credential, options: VaultOptions(lockTimeout: .seconds(90)))
        let reader = try sandbox.here.open(with: sandbox.credential, options: VaultOptions(lockTimeout: .seconds(90)))
        let isOver = Flag()
        let results = try concurrently(2) { index in
            if index == 0 {
                defer { isOver.isSet.store(true, ordering: .relaxed) }
                for round in 0..<(isLongForm ? 100 : 20) { try sandbox.export(reader, to: sandbox.path + "\(round)") }
                return
            }
            var round: UInt8 = 0
            while !isOver.isSet.load(ordering: .relaxed) {
                round &+= 1
                try writer.update("large", "z", value: [UInt8](repeating: round, count: 1000 + Int(round)))
            }
        }
        for result in results { try result.get() }
        for round in 0..<20 {
            let backup = try Backup.open(
                sandbox.path + "\(round)", with: sandbox.credential, for: sandbox.here.place, taking: .everything)
            var draft = try VaultDraft(making: backup.vaultID, place: sandbox.here.place)
            try draft.add(
                try NewSlot.recipient(sandbox.person.recipient).maker(for: sandbox.here.place)
                    .prepare(vaultID: draft.vaultID))
            #expect(try backup.fill(&draft).count == 13)
        }
    }
}
