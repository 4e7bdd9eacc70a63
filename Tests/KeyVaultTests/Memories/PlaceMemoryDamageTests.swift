import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a memory of the place that cannot be read.
@Suite struct PlaceMemoryDamageTests {
    private let sandbox: RememberedVault
    private var fixture: VaultFixture { sandbox.fixture }
    private var credential: VaultCredential { sandbox.credential }

    init() throws { sandbox = try RememberedVault() }

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
        _ = try sandbox.create()
        try put(fault)
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == fault.code)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == fault.code)
        #expect(try fixture.copy().files == before)
    }

    /// A running program continues with its keys, and accepts nothing new.
    @Test func aRunningProgramNoticesToo() throws {
        _ = try sandbox.create()
        let running = try fixture.open()
        try fixture.open().add("s", "new", .afterFirstUnlock)
        try put(.damaged)
        #expect(code { () throws(VaultError) in _ = try running.value("s", "new") } == .corrupt)
        #expect(running.keyring.active != nil)
    }

    /// A person who abandons or restores the vault needs no memory of it.
    @Test(arguments: [Fault.damaged, .noDirectory]) func aVaultIsGivenUpOverADamagedMemory(_ fault: Fault) throws {
        let vault = try sandbox.create()
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
        let vault = try sandbox.create()
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
                slots: [.recipient(sandbox.identity.recipient), .defaultKeyFile])
        }
        // An existing vault is not opened without a memory.
        #expect(code { () throws(VaultError) in _ = try restore() } == .corrupt)
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        #expect(try restore().isNewVault)
        #expect(try fixture.open().value("s", "service") == [2])
        #expect(try sandbox.memory().period == (isRekeyed ? 4 : 2))
    }

    @Test func aPersonAcceptsTheVaultOverADamagedMemory() throws {
        _ = try sandbox.create()
        try put(.damaged)
        try fixture.accept(.automatic)
        #expect(throws: Never.self) { try fixture.open() }
        #expect(try sandbox.memory().period == 1)
    }
}
