import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a vault that a user's programs remember and of which files are missing.
@Suite struct MissingVaultTests {
    private let sandbox: RememberedVault
    private var fixture: VaultFixture { sandbox.fixture }
    private var credential: VaultCredential { sandbox.credential }

    init() throws { sandbox = try RememberedVault() }

    @Test func aVaultThatIsGoneIsMissingAndNotMadeAgain() throws {
        _ = try sandbox.create()
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
        let vault = try sandbox.create()
        for leaf in VaultPlace.leaves { unlink(fixture.beside(leaf)) }
        _ = try Vault.abandon(fixture.accessGroup, in: fixture.home, slots: [.defaultKeyFile])
        #expect(try fixture.open().vaultID != vault.vaultID)
    }

    @Test func aServiceContinuesWithoutTheCompartmentOfPersonsAndWritesNothing() throws {
        let person = try sandbox.create()
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
        _ = try sandbox.create()
        unlink(fixture.personPath)
        try fixture.forget()
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .missing)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .missing)
    }

    @Test func aMissingCompartmentOfServicesLeavesAPersonWhatIsTheirs() throws {
        _ = try sandbox.create()
        unlink(fixture.path)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } != nil)
        let person = try fixture.open(with: credential)
        #expect(try person.value("s", "person") == [1])
        #expect(code { () throws(VaultError) in _ = try person.value("s", "service") } == .missing)
        #expect(!SystemFile.exists(fixture.path))
    }
}
