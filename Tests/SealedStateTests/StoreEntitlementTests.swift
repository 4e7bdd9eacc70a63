import AppGroups
import SealedState
import TestSupport
import Testing

@Suite struct StoreEntitlementTests {
    private let directory: TemporaryDirectory
    private let home: GroupsHome
    private let held: AppGroup

    init() throws {
        directory = try TemporaryDirectory()
        home = GroupsHome(root: directory.path)
        held = try AppGroup("group.com.example.app")
    }

    private func options(_ entitlements: EntitlementPolicy) -> StoreOptions {
        var options = StoreOptions()
        options.entitlements = entitlements
        options.durability = .unsynced
        return options
    }

    private var given: StoreOptions { options(.given(Entitlements(applicationGroups: [held]))) }

    @Test func theStoreOfAHeldGroupOpens() throws {
        #expect(try SealedStore(group: held, in: home, options: given).group == held)
    }

    @Test(arguments: [true, false])
    func anotherGroupsStoreIsRefusedAndNothingIsMade(creating: Bool) throws {
        let error = #expect(throws: StoreError.self) {
            try SealedStore(group: AppGroup("group.com.example.apps"), in: home, creating: creating, options: given)
        }
        #expect(error?.code == .notEntitled)
        #expect((error?.cause as? AppGroupError)?.nearestGroup == held.identifier)
        #expect(try SystemFile.names(directory.path).isEmpty)
    }

    @Test func uncheckedOpensEveryGroup() throws {
        _ = try SealedStore(group: AppGroup("group.com.example.other"), in: home, options: options(.unchecked))
    }

    @Test func aStoreStillFollowsItsContainer() throws {
        let store = try SealedStore(group: held, in: home, options: given)
        _ = try store.following()
    }
}
