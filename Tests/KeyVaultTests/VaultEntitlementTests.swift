import AppGroups
import KeyVault
import TestSupport
import Testing

@Suite struct VaultEntitlementTests {
    private let directory: TemporaryDirectory
    private let home: GroupsHome
    private let held: AccessGroup
    private let other: AccessGroup
    private let options: VaultOptions

    init() throws {
        directory = try TemporaryDirectory()
        home = GroupsHome(root: directory.path)
        held = try AccessGroup("ABCDE12345.keys")
        other = try AccessGroup("group.com.example.app")
        options = VaultOptions(entitlements: .given(Entitlements(applicationGroups: [], accessGroups: [held])))
    }

    /// The creation of a key searches for a container of that name, which is not one of the program's app groups.
    @Test func anAccessGroupThatIsNotAnAppGroupGetsItsVault() throws {
        _ = try Vault.openOrCreate(held, in: home, options: options)
        _ = try Vault.open(held, in: home, options: options)
    }

    enum Call: CaseIterable {
        case open, openOrCreate, create, accept, abandon, importBackup
    }

    private func perform(_ call: Call) throws(VaultError) {
        switch call {
        case .open: _ = try Vault.open(other, in: home, options: options)
        case .openOrCreate: _ = try Vault.openOrCreate(other, in: home, options: options)
        case .create:
            _ = try Vault.create(
                other, in: home, slots: [.defaultKeyFile], openingWith: .defaultKeyFile, options: options)
        case .accept: _ = try Vault.accept(other, in: home, options: options)
        case .abandon: _ = try Vault.abandon(other, in: home, slots: [.defaultKeyFile], options: options)
        case .importBackup:
            let path = directory.path("none")
            _ = try Vault.import(from: path, opening: .defaultKeyFile, other, in: home, options: options)
        }
    }

    @Test(arguments: Call.allCases)
    func nothingOfAnotherGroupsVaultIsOpenedOrMade(call: Call) throws {
        let error = #expect(throws: VaultError.self) { try perform(call) }
        #expect(error?.code == .notEntitled)
        #expect(try SystemFile.names(directory.path).isEmpty)
    }

    @Test func aVaultThatIsThereIsNotLookedAt() throws {
        _ = try Vault.openOrCreate(other, in: home)
        let error = #expect(throws: VaultError.self) { try perform(.open) }
        #expect(error?.code == .notEntitled)
        var unchecked = options
        unchecked.entitlements = .unchecked
        _ = try Vault.open(other, in: home, options: unchecked)
    }

    @Test func statusAndLockingNeedNoEntitlement() throws {
        _ = try Vault.openOrCreate(other, in: home)
        _ = try Vault.status(other, in: home)
        try Vault.lock(other, in: home)
    }
}
