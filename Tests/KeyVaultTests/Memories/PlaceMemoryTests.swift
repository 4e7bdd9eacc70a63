import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the file with a user's memory of the vault at one place.
@Suite struct PlaceMemoryTests {
    private let sandbox: RememberedVault
    private var fixture: VaultFixture { sandbox.fixture }
    private var credential: VaultCredential { sandbox.credential }

    init() throws { sandbox = try RememberedVault() }

    @Test func aMemoryOfPersonsWhoDoNotVouchIsKept() throws {
        _ = try sandbox.create()
        let known = try sandbox.memory()
        var next = known
        next.period += 1
        next.personKey = SecureRandom.bytes(count: 32)
        fixture.place.memory.store(next, chain: [next.personKey])
        #expect(try sandbox.memory() == known)
        fixture.place.memory.store(next, chain: [known.personKey, next.personKey])
        #expect(try sandbox.memory() == next)
    }

    /// A running program has missed a change that another program of its user has seen.
    @Test func aRunningProgramAsksTheMemoryAboutAChangedRegister() throws {
        let vault = try sandbox.create()
        let other = try fixture.open(with: credential)
        var seen = try sandbox.memory()
        seen.formerPersonKey = seen.personKey
        seen.personKey = SecureRandom.bytes(count: 32)
        fixture.place.memory.store(seen, isAccepted: true)
        // This register continues the persons that were known before, with another successor than the known one.
        _ = try? other.addSlot(.recipient(Identity.random().recipient))
        #expect(code { () throws(VaultError) in _ = try vault.current() } == .forked)
        #expect(try sandbox.memory() == seen)
    }

    @Test func isReadBackAndEveryFlippedBitIsRefused() throws {
        let vault = try sandbox.create()
        _ = try fixture.open()
        let memory = try sandbox.memory()
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
        _ = try sandbox.create()
        let places = fixture.directory.path("Places")
        #expect(try SystemFile.mode(places) & 0o777 == 0o700)
        let name = try #require(try SystemFile.names(places).first)
        #expect(try SystemFile.names(places).count == 1 && name.utf8.count == 32)
        #expect(try SystemFile.mode("\(places)/\(name)") == 0o600)
    }

    @Test func everyPathToAVaultLeadsToOneMemory() throws {
        _ = try sandbox.create()
        let real = try sandbox.memory()
        let vaults = fixture.directory.path("Vaults")
        try fixture.directory.link("linked", to: vaults)
        let linked = PlaceMemoryFile(
            directories: fixture.place.memory.directories,
            vault: .init(fixture.directory.path("linked/\(fixture.accessGroup)")),
            accessGroup: fixture.accessGroup)
        #expect(try linked.load() == real)
    }

    /// A member who may rename the directory of vaults cannot make this user's programs forget the place.
    @Test func aLinkInThePlaceOfTheDirectoryOfVaultsIsRefused() throws {
        _ = try sandbox.create()
        let real = try sandbox.memory()
        let vaults = fixture.directory.path("Vaults")
        #expect(rename(vaults, fixture.directory.path("moved")) == 0)
        try fixture.directory.link("Vaults", to: "moved")
        #expect(try sandbox.memory() == real)
        #expect(code { () throws(VaultError) in _ = try fixture.open() } == .unsafeFile)
        #expect(code { () throws(VaultError) in _ = try fixture.create() } == .unsafeFile)
        #expect(unlink(vaults) == 0 && rename(fixture.directory.path("moved"), vaults) == 0)
        #expect(throws: Never.self) { try fixture.open() }
    }

    // this user:     opens, the disk is full ... follows ... there is room again ... follows
    // another user:  ........................ rekeys .............................. adds an item
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aMemoryThatAFullDiskDroppedIsStoredAtTheNextChange() throws {
        let places = try SmallFileSystem(at: try fixture.directory.directory("Places"))
        defer { withExtendedLifetime(places) {} }
        try fixture.create()
        let running = try fixture.open()
        let other = GroupsHome(root: fixture.directory.path, userRoot: try fixture.directory.directory("other"))
        let vault = try Vault.open(fixture.accessGroup, in: other, with: .keyFile(path: fixture.keyFile))
        try places.fillBytes()
        try vault.rekey()
        #expect(try running.current().register?.period == 2)
        #expect(try sandbox.memory().period == 1)
        #expect(running.unstoredMinimum != nil)
        #expect(unlink("\(places.path)/fill") == 0)
        try vault.add("s", "a", .afterFirstUnlock)
        _ = try running.current()
        #expect(try sandbox.memory().period == 2)
        #expect(running.unstoredMinimum == nil)
    }
}
