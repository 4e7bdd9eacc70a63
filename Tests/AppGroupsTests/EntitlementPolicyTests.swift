import AppGroups
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct EntitlementPolicyTests {
    private let place: TemporaryHome
    private let held: AppGroup
    private let policy: EntitlementPolicy

    init() throws {
        place = try TemporaryHome()
        held = try AppGroup("group.com.example.app")
        policy = .given(Entitlements(applicationGroups: [held, try AppGroup("group.com.example.other")]))
    }

    private func refusal(_ body: () throws -> Void) -> AppGroupError? {
        #expect(throws: AppGroupError.self) { try body() }
    }

    @Test func aHeldGroupIsOpened() throws {
        #expect(try GroupContainer.open(held, in: place.home, entitlements: policy).group == held)
    }

    @Test func anotherGroupIsRefusedWithThoseThatAreHeldAndTheNearest() throws {
        let error = refusal {
            _ = try GroupContainer.open(AppGroup("group.com.example.apps"), in: place.home, entitlements: policy)
        }
        #expect(error?.code == .notEntitled)
        #expect(error?.heldGroups == ["group.com.example.app", "group.com.example.other"])
        #expect(error?.nearestGroup == "group.com.example.app")
        #expect(error?.subject == "group.com.example.apps")
        #expect(error?.description.contains("group.com.example.other") == true)
    }

    @Test func nothingIsMadeForAGroupThatIsNotHeld() throws {
        _ = refusal { _ = try GroupContainer.open(AppGroup("group.x"), in: place.home, entitlements: policy) }
        #expect(!isDirectory(place.home.containersPath.string))
    }

    @Test func theRegistryOfAGroupThatIsNotHeldIsNotChanged() throws {
        let registry = GroupRegistry(try AppGroup("group.x"), in: place.home)
        let member = try GroupMember(applicationIdentifier: "app", executablePath: "/bin/sh")
        #expect(refusal { try registry.register(member, entitlements: policy) }?.code == .notEntitled)
        #expect(!isDirectory(place.home.containersPath.string))
        try registry.register(member, entitlements: .unchecked)
        #expect(refusal { try registry.reset(entitlements: policy) }?.code == .notEntitled)
        #expect(refusal { try registry.setQuota(1, entitlements: policy) }?.code == .notEntitled)
        #expect(!isDirectory(place.home.trashPath.string))
    }

    @Test func noNearestGroupIsNamedWhereNoneIsClose() throws {
        let error = refusal { try policy.require(AppGroup("ABCDE12345.z")) }
        #expect(error?.code == .notEntitled)
        #expect(error?.nearestGroup == nil)
    }

    @Test func aGroupThatDiffersInCaseIsTheNearest() throws {
        let error = refusal { try policy.require(AppGroup("group.com.example.Other")) }
        #expect(error?.nearestGroup == "group.com.example.other")
    }

    @Test func emptyEntitlementsHoldNothing() throws {
        let error = refusal { try EntitlementPolicy.given(Entitlements(applicationGroups: [])).require(held) }
        #expect(error?.code == .notEntitled)
        #expect(error?.heldGroups == [])
    }

    @Test func uncheckedOpensEveryGroup() throws {
        try EntitlementPolicy.unchecked.require(AppGroup("group.any"))
        try EntitlementPolicy.unchecked.require(AccessGroup("ABCDE12345.any"))
    }

    /// The tests' executable has no entitlements file beside it.
    @Test func aProgramWithoutEntitlementsOpensEveryGroup() throws {
        #expect(try Entitlements.ofThisProgram() == nil)
        try EntitlementPolicy.program.require(AppGroup("group.any"))
    }

    /// The tests' executable has no entitlements file beside it.
    @Test func requiredRefusesAProgramWithoutEntitlements() throws {
        for attempt in 1...2 {
            let error = refusal { try EntitlementPolicy.required.require(held) }
            #expect(error?.code == .notEntitled, "\(attempt)")
            #expect(error?.heldGroups == [])
            #expect(error?.subject == held.identifier)
            #expect(error?.reason.contains(".entitlements") == true)
        }
        #expect(refusal { try EntitlementPolicy.required.require(AccessGroup(held)) }?.code == .notEntitled)
        let error = refusal { _ = try GroupContainer.open(held, in: place.home, entitlements: .required) }
        #expect(error?.code == .notEntitled)
        #expect(!isDirectory(place.home.containersPath.string))
    }

    @Test(arguments: ["file", "directory", "link", "closed"])
    func theMachineRequiresEntitlements(kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("entitlements-required")
        let settings = MachineEntitlements(directory: directory.path)
        try MachineEntitlements.$current.withValue(settings) {
            try EntitlementPolicy.program.require(held)
            switch kind {
            case "file": try directory.file("entitlements-required", "no contents count", mode: 0o600)
            case "directory": try directory.directory("entitlements-required")
            // A place that cannot be looked at may have the file.
            case "closed":
                try directory.link("round", to: "round")
                let closed = MachineEntitlements(directory: directory.path("round"))
                let error = MachineEntitlements.$current.withValue(closed) {
                    refusal { try EntitlementPolicy.program.require(held) }
                }
                #expect(error?.code == .notEntitled)
                return
            default: try directory.link("entitlements-required", to: "nothing")
            }
            let error = refusal { try EntitlementPolicy.program.require(held) }
            #expect(error?.code == .notEntitled)
            #expect(error?.reason.contains(path) == true)
            try policy.require(held)
            try EntitlementPolicy.unchecked.require(held)
        }
    }

    @Test func anAccessGroupIsRefusedWithThoseThatAreHeld() throws {
        let given = EntitlementPolicy.given(
            Entitlements(
                applicationGroups: [held], accessGroups: [try AccessGroup("ABCDE12345.keys")],
                applicationIdentifier: "ABCDE12345.own"))
        try given.require(AccessGroup("ABCDE12345.keys"))
        try given.require(AccessGroup(held))
        let error = refusal { try given.require(AccessGroup("ABCDE12345.key")) }
        #expect(error?.code == .notEntitled)
        #expect(error?.heldGroups == ["ABCDE12345.keys", "ABCDE12345.own", "group.com.example.app"])
        #expect(error?.nearestGroup == "ABCDE12345.keys")
    }

    @Test func anAppGroupWithATeamBeforeItIsExplained() throws {
        let error = refusal { try policy.require(AccessGroup("ABCDE12345.group.com.example.app")) }
        #expect(error?.code == .notEntitled)
        #expect(error?.advice.contains("group.com.example.app") == true)
    }

    @Test func aNotificationCenterAsksAsWell() throws {
        let error = refusal {
            _ = try GroupNotificationCenter(
                group: AppGroup("group.x"), in: place.home, creating: false, entitlements: policy)
        }
        #expect(error?.code == .notEntitled)
        _ = try GroupNotificationCenter(group: held, in: place.home, creating: false, entitlements: policy)
    }
}
