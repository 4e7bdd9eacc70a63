import CryptoPrimitives
import Glibc
import Sealing
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a user's memory of the vault at one place.
@Suite struct PlaceMemoryTests {
    private let fixture: VaultFixture
    private let identity: Identity

    init() throws {
        fixture = try VaultFixture()
        identity = try .random()
    }

    private var credential: VaultCredential { .identity(identity) }

    /// Creates a vault with a person, a service, and an item of each class.
    private func create() throws -> Vault {
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.recipient(identity.recipient), .defaultKeyFile],
            openingWith: credential)
        try vault.add("s", "person", .whenUnlocked, [1])
        try vault.add("s", "service", .afterFirstUnlock, [2])
        return vault
    }

    private func memory() throws -> PlaceMemory { try #require(try fixture.place.memory.load()) }

    // MARK: Other programs of the user

    @Test func aMemoryOfPersonsWhoDoNotVouchIsKept() throws {
        _ = try create()
        let known = try memory()
        var next = known
        next.period += 1
        next.personKey = SecureRandom.bytes(count: 32)
        fixture.place.memory.store(next, chain: [next.personKey])
        #expect(try memory() == known)
        fixture.place.memory.store(next, chain: [known.personKey, next.personKey])
        #expect(try memory() == next)
    }

    /// A running program has missed a change that another program of its user has seen.
    @Test func aRunningProgramAsksTheMemoryAboutAChangedRegister() throws {
        let vault = try create()
        let other = try fixture.open(with: credential)
        var seen = try memory()
        seen.formerPersonKey = seen.personKey
        seen.personKey = SecureRandom.bytes(count: 32)
        fixture.place.memory.store(seen, isAccepted: true)
        // This register continues the persons that were known before, with another successor than the known one.
        _ = try? other.addSlot(.recipient(Identity.random().recipient))
        #expect(code { () throws(VaultError) in _ = try vault.current() } == .forked)
        #expect(try memory() == seen)
    }

    // MARK: The minimum epoch

    /// Completes a rotation without anything to reseal, and returns the minimum epoch.
    private func rotate(_ vault: Vault) throws -> UInt32 {
        let epoch = try #require(try vault.beginRotation(of: .afterFirstUnlock))
        try vault.completeRotation(of: .afterFirstUnlock, to: epoch)
        return epoch
    }

    /// Writes `vault` with the minimum epoch 1, as a service of another user can.
    private func lowerMinimum() throws {
        let other = try VaultFixture()
        _ = try other.create()
        try other.forget()
        try other.restore(try fixture.copy())
        let service = try other.open(with: .keyFile(path: fixture.keyFile))
        try service.change(.rotationBegun) { draft throws(VaultError) in
            draft.changeRotation(of: .afterFirstUnlock) { $0.minimumEpoch = 1 }
        }
        try fixture.restore(try other.copy())
    }

    @Test(.enabled(if: MemoryDirectory.isAvailable))
    func aLowerMinimumOfThePeriodIsRefusedUntilItIsAccepted() throws {
        let cache = try MemoryDirectory()
        try UnlockCaches.$current.withValue(.runtimeFile(below: cache.path)) {
            let person = try create()
            let running = try fixture.open()
            try person.unlock()
            let epoch = try rotate(person)
            #expect(try running.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == epoch)
            #expect(try memory().minimum == SeenMinimum(epoch: epoch, period: 1))
            let honest = try fixture.copy()
            try lowerMinimum()
            for vault in [running, person] {
                #expect(code { () throws(VaultError) in try vault.add("s", "x", .afterFirstUnlock) } == .rolledBack)
            }
            // The user has unlocked the vault, so items of *when unlocked* open with every credential.
            for opening in [VaultCredential.unlocked, credential, .defaultKeyFile] {
                let opened = try fixture.open(with: opening)
                #expect(try opened.value("s", "person") == [1])
                #expect(code { () throws(VaultError) in _ = try opened.value("s", "service") } == .rolledBack)
            }
            // The refused write has raised no watermark.
            try fixture.restore(honest)
            #expect(try running.value("s", "service") == [2])
            try lowerMinimum()
            try fixture.accept(credential)
            #expect(try memory().minimum == SeenMinimum(epoch: 1, period: 1))
            for vault in [running, try fixture.open()] {
                #expect(try vault.currentKeyring().minimumEpoch(of: .afterFirstUnlock) == 1)
            }
        }
    }

    @Test func anInventoryRefusesALowerMinimumAndChangesNothing() throws {
        let person = try create()
        _ = try rotate(person)
        let honest = try fixture.copy()
        try lowerMinimum()
        let known = try memory()
        for credential in [VaultCredential.defaultKeyFile, credential] {
            #expect(
                code { () throws(VaultError) in
                    _ = try Vault.inventory(fixture.accessGroup, in: fixture.home, with: credential)
                } == .rolledBack)
        }
        #expect(try memory() == known)
        try fixture.restore(honest)
        #expect(try Vault.inventory(fixture.accessGroup, in: fixture.home).itemCount == 1)
    }

    @Test func aRekeyContinuesWithTheHigherMinimum() throws {
        let person = try create()
        let epoch = try rotate(person)
        try lowerMinimum()
        let opened = try fixture.open(with: credential)
        #expect(code { () throws(VaultError) in try opened.rekey() } == .rolledBack)
        var options = RekeyOptions()
        options.rebuildsServices = true
        let report = try opened.rekey(options)
        #expect(report.losses.isCompartmentOlder && !report.losses.isCompartmentLost)
        #expect(try fixture.open().currentKeyring().minimumEpoch(of: .afterFirstUnlock) == epoch)
        #expect(try memory().minimum == SeenMinimum(epoch: epoch, period: 2))
    }

    @Test func aStoredMinimumOfOnePeriodOnlyRises() throws {
        _ = try create()
        let chain = try #require(try fixture.open().current().register).chain.map(\.key.bytes)
        var new = try memory()
        let (five, three) = (SeenMinimum(epoch: 5, period: 1), SeenMinimum(epoch: 3, period: 1))
        let (later, former) = (SeenMinimum(epoch: 2, period: 2), SeenMinimum(epoch: 9, period: 1))
        for (seen, kept) in [(five, five), (three, five), (later, later), (former, later)] {
            new.minimum = seen
            fixture.place.memory.store(new, chain: chain)
            #expect(try memory().minimum == kept)
        }
        new.minimum = .none
        fixture.place.memory.store(new, isAccepted: true)
        #expect(try memory().minimum == .none)
    }

    // MARK: The file

    @Test func isReadBackAndEveryFlippedBitIsRefused() throws {
        let vault = try create()
        _ = try fixture.open()
        let memory = try memory()
        let register = try #require(try vault.current().register)
        #expect(memory.vaultID == register.vaultID && memory.hasPersons && memory.period == 1)
        #expect(
            memory.personKey == register.personKey?.bytes && memory.formerPersonKey == register.chain.first?.key.bytes)
        #expect(memory.root == vault.keys.service.commitment)
        let bytes = memory.encoded
        #expect(bytes.count == PlaceMemory.size && PlaceMemory(parsing: bytes) == memory)
        for bit in 0..<bytes.count * 8 {
            var bad = bytes
            bad[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(PlaceMemory(parsing: bad) == nil, "bit \(bit)")
        }
        for count in 0..<bytes.count { #expect(PlaceMemory(parsing: Array(bytes[..<count])) == nil) }
        #expect(PlaceMemory(parsing: bytes + [0]) == nil)
    }

    @Test func itsFileIsTheOwnersAlone() throws {
        _ = try create()
        let places = fixture.directory.path("Places")
        #expect(try SystemFile.mode(places) & 0o777 == 0o700)
        let name = try #require(try SystemFile.names(places).first)
        #expect(try SystemFile.names(places).count == 1 && name.utf8.count == 32)
        #expect(try SystemFile.mode("\(places)/\(name)") == 0o600)
    }

    @Test func everyPathToAVaultLeadsToOneMemory() throws {
        _ = try create()
        let real = try memory()
        let vaults = fixture.directory.path("Vaults")
        try fixture.directory.link("linked", to: vaults)
        let linked = PlaceMemoryFile(
            directories: fixture.place.memory.directories,
            vault: .init(fixture.directory.path("linked/\(fixture.accessGroup)")),
            accessGroup: fixture.accessGroup)
        #expect(try linked.load() == real)
    }

    // MARK: A memory that cannot be read

    /// The fault that makes the memory unusable, and the refusal.
    enum Fault: CaseIterable {
        case damaged, cutShort, empty, tooLong, noDirectory, fifo, link, othersMayWrite, anotherUsers

        var code: VaultError.Code {
            switch self {
            case .damaged, .cutShort, .empty, .tooLong: .corrupt
            case .noDirectory: .file
            case .fifo, .link, .othersMayWrite, .anotherUsers: .unsafeFile
            }
        }
    }

    private func put(_ fault: Fault) throws {
        let places = fixture.directory.path("Places")
        let file = "\(places)/\(try #require(try SystemFile.names(places).first))"
        var bytes = try SystemFile.read(file)
        switch fault {
        case .damaged: bytes[40] ^= 1
        case .cutShort: bytes.removeLast()
        case .empty: bytes = []
        case .tooLong: bytes += bytes
        default: break
        }
        switch fault {
        case .damaged, .cutShort, .empty, .tooLong: try SystemFile.write(file, bytes)
        case .noDirectory:
            rename(places, places + ".moved")
            try SystemFile.write(places, [])
        case .fifo:
            unlink(file)
            mkfifo(file, 0o600)
        case .link:
            rename(file, file + ".moved")
            symlink(file + ".moved", file)
        case .othersMayWrite: chmod(places, 0o777)
        case .anotherUsers: chown(places, 65_534, 65_534)
        }
    }

    /// If it counted as a first contact, it would open a vault that another member has put in place.
    @Test(arguments: Fault.allCases) func aMemoryThatCannotBeReadRefusesTheVault(_ fault: Fault) throws {
        if fault == .anotherUsers, geteuid() != 0 { return }
        _ = try create()
        try put(fault)
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == fault.code)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == fault.code)
        #expect(try fixture.copy().files == before)
    }

    /// A running program continues with its keys, and accepts nothing new.
    @Test func aRunningProgramNoticesToo() throws {
        _ = try create()
        let running = try fixture.open()
        try fixture.open().add("s", "new", .afterFirstUnlock)
        try put(.damaged)
        #expect(code { () throws(VaultError) in _ = try running.value("s", "new") } == .corrupt)
        #expect(running.keyring.active != nil)
    }

    /// A person who abandons or restores the vault needs no memory of it.
    @Test(arguments: [Fault.damaged, .noDirectory]) func aVaultIsGivenUpOverADamagedMemory(_ fault: Fault) throws {
        let vault = try create()
        try put(fault)
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        #expect(code { () throws(VaultError) in try fixture.create() } == fault.code)
        _ = try Vault.abandon(fixture.accessGroup, in: fixture.home, slots: [.defaultKeyFile])
        guard fault == .damaged else { return }
        #expect(try fixture.open().vaultID != vault.vaultID)
    }

    /// The watermarks still contain the periods after the backup's.
    @Test(arguments: [Fault.damaged, .empty, .tooLong], [false, true])
    func aBackupIsRestoredOverADamagedMemory(_ fault: Fault, isRekeyed: Bool) throws {
        let vault = try create()
        let words = try passphrase("backup")
        let backup = fixture.directory.path("backup")
        guard case .passphrase(let phrase) = words else { return }
        _ = try vault.export(to: backup, for: [.passphrase(phrase, .minimum)])
        if isRekeyed {
            for _ in 1...2 { try fixture.open(with: credential).rekey() }
        }
        try put(fault)
        func restore() throws(VaultError) -> ImportReport {
            try Vault.import(
                from: backup, opening: words, fixture.accessGroup, in: fixture.home,
                slots: [.recipient(identity.recipient), .defaultKeyFile])
        }
        // An existing vault is not opened without a memory.
        #expect(code { () throws(VaultError) in _ = try restore() } == .corrupt)
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        #expect(try restore().isNewVault)
        #expect(try fixture.open().value("s", "service") == [2])
        #expect(try memory().period == (isRekeyed ? 4 : 2))
    }

    @Test func aPersonAcceptsTheVaultOverADamagedMemory() throws {
        _ = try create()
        try put(.damaged)
        try fixture.accept(.automatic)
        #expect(throws: Never.self) { try fixture.open() }
        #expect(try memory().period == 1)
    }

    // MARK: Missing files

    @Test func aVaultThatIsGoneIsMissingAndNotMadeAgain() throws {
        _ = try create()
        let key = try SystemFile.read(fixture.keyFile)
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        for _ in 0..<2 {
            #expect(code { () throws(VaultError) in _ = try fixture.open() } == .missing)
            #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .missing)
            #expect(code { () throws(VaultError) in try fixture.create() } == .missing)
            #expect(!SystemFile.exists(fixture.path))
            // This also holds if the whole directory is missing.
            rename(fixture.directory.path("Vaults/\(fixture.accessGroup)"), fixture.directory.path("gone"))
        }
        #expect(try SystemFile.read(fixture.keyFile) == key)
        // A user who has never opened it may create one.
        try fixture.forgetPlaces()
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test func abandoningGivesTheMemoryUp() throws {
        let vault = try create()
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        _ = try Vault.abandon(fixture.accessGroup, in: fixture.home, slots: [.defaultKeyFile])
        #expect(try fixture.open().vaultID != vault.vaultID)
    }

    @Test func aServiceContinuesWithoutTheCompartmentOfPersonsAndWritesNothing() throws {
        let person = try create()
        let running = try fixture.open()
        let copy = try fixture.copy()
        unlink(fixture.personPath)
        for vault in [running, try fixture.open()] {
            #expect(try vault.value("s", "service") == [2])
            #expect(code { () throws(VaultError) in try vault.add("s", "a") } == .missing)
            #expect(
                code { () throws(VaultError) in try vault.deleteItem(service: "s", account: "service") } == .missing)
            #expect(code { () throws(VaultError) in _ = try vault.beginRotation() } == .missing)
        }
        #expect(try SystemFile.read(fixture.path) == copy.files["vault"])
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .missing)
        #expect(code { () throws(VaultError) in _ = try person.value("s", "person") } == .missing)
        #expect(!SystemFile.exists(fixture.personPath))
        // The restored vault is in its former state.
        try fixture.restore(copy)
        #expect(try running.items().map(\.account) == ["service"])
        try running.add("s", "a")
        #expect(try fixture.open(with: credential).items().map(\.account) == ["a", "person", "service"])
    }

    @Test func withoutAMemoryAMissingCompartmentOfPersonsClosesTheVault() throws {
        _ = try create()
        unlink(fixture.personPath)
        try fixture.forget()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .missing)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .missing)
    }

    @Test func aMissingCompartmentOfServicesLeavesAPersonWhatIsTheirs() throws {
        _ = try create()
        unlink(fixture.path)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } != nil)
        let person = try fixture.open(with: credential)
        #expect(try person.value("s", "person") == [1])
        #expect(code { () throws(VaultError) in _ = try person.value("s", "service") } == .missing)
        #expect(!SystemFile.exists(fixture.path))
    }

    // MARK: Other vaults

    /// The check precedes the credential, so that a planted file tests no passphrase.
    @Test func anotherVaultIsRefusedBeforeACredentialIsTried() throws {
        _ = try create()
        let other = try VaultFixture()
        try other.create(with: passphrase("guess"))
        try fixture.restore(try other.copy())
        for credential in [try passphrase("guess"), .identity(identity), .defaultKeyFile] {
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: credential) } == .replaced)
        }
        #expect(try Vault.availability(fixture.accessGroup, in: fixture.home) == .replaced)
    }

    @Test func theFirstContactThroughAPublicKeyIsAccepted() throws {
        _ = try create()
        try fixture.forget()
        // The slot itself shows that its holder has trusted the vault.
        #expect(throws: Never.self) { try fixture.open(with: credential) }
        let friend = try Identity.random()
        try fixture.open(with: credential).addSlot(.recipient(friend.recipient))
        for _ in 0..<2 {
            #expect(code { () throws(VaultError) in _ = try fixture.open(with: .identity(friend)) } == .notAccepted)
            try fixture.forget()
        }
        let preview = try Vault.preview(fixture.accessGroup, in: fixture.home)
        let accepted = try Vault.accept(
            fixture.accessGroup, in: fixture.home, with: .identity(friend), fingerprint: preview.fingerprint)
        #expect(try accepted.value("s", "person") == [1])
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open(with: .identity(friend)) }
    }

    @Test func anUnattendedRecipientNeedsNoAcceptance() throws {
        let service = try Identity.random()
        try create().addSlot(.recipient(service.recipient, unattended: true))
        try fixture.forget()
        #expect(try fixture.open(with: .identity(service)).value("s", "service") == [2])
    }

    /// A rekey reseals to public keys as well. A holder who has never trusted a person's key cannot distinguish it from
    /// a forgery.
    @Test func aResealedSlotWithoutAMemoryIsNotAccepted() throws {
        // The key file's slot is from a time without persons, so it has no memory code.
        try fixture.create().addSlot(.recipient(identity.recipient))
        try fixture.accept(credential).rekey(RekeyOptions(keeping: [1]))
        let copy = try fixture.copy()
        try fixture.forget()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .notAccepted)
        #expect(try fixture.copy().files == copy.files)
        try fixture.accept(.defaultKeyFile)
        try fixture.forget()
        #expect(throws: Never.self) { try fixture.open() }
    }
}
