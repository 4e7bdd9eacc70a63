import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of containers that the members of a unix group share, each member in a process of its own.
@Suite(.enabled(if: UnixUser.canBecome, "only root can become another user"), .timeLimit(.minutes(10)))
struct SharedContainerTests {
    static let team = Sharing.unixGroup(UnixUser.team)
    static let masks: [mode_t] = [0o000, 0o027, 0o077]

    let place: TemporaryDirectory

    /// The path of a home that the team may create in root's directory.
    private var root: String { place.path("top/home") }

    init() throws {
        place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
        try place.directory("top")
        #expect(chown(place.path("top"), 0, UnixUser.team) == 0)
        #expect(chmod(place.path("top"), 0o2770) == 0)
    }

    private func container(_ relative: String = "") -> String { "\(root)/Containers/group.shared/\(relative)" }

    /// Creates the container as ada.
    private func make() async {
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0o077)
            _ = try openShared(root, sharing: SharedContainerTests.team)
        }
    }

    // MARK: Making

    @Test(arguments: masks) func aSharedContainerIsOpenToItsGroupRegardlessOfTheUmask(_ mask: mode_t) async throws {
        await #expect(processExitsWith: .success) { [root = root as String, mask = mask as mode_t] in
            try become(.ada, umask: mask)
            let container = try openShared(root, sharing: SharedContainerTests.team)
            #expect(container.sharing == SharedContainerTests.team)
        }
        for relative in GroupContainerTests.everyDirectory {
            let facts = try #require(status(of: container(relative)))
            #expect(facts.st_mode & 0o7777 == 0o2770)
            #expect(facts.st_gid == UnixUser.team)
        }
        for above in [root, root + "/Containers"] {
            #expect(mode(of: above) == 0o3770)
            #expect(status(of: above)?.st_gid == UnixUser.team)
        }
        #expect(try SystemFile.names(root + "/Containers") == ["group.shared"])
        #expect(try SystemFile.names(container()) == ["Library"])
    }

    @Test func withoutBeingAskedForNothingIsShared() async throws {
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            #expect(try openShared(root).sharing == .ownerOnly)
        }
        #expect(mode(of: root + "/Containers") == 0o700)
        for relative in GroupContainerTests.everyDirectory { #expect(mode(of: container(relative)) == 0o700) }
    }

    @Test func aContainerThatExistsKeepsItsMode() async throws {
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            _ = try openShared(root)
            #expect(try openShared(root, sharing: SharedContainerTests.team).sharing == .ownerOnly)
        }
        #expect(mode(of: container()) == 0o700)
        #expect(mode(of: container("Library")) == 0o700)
    }

    @Test func onlyMembersCanShareAContainer() async throws {
        #expect(chown(place.path("top"), UnixUser.eve.uid, UnixUser.team) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.eve, umask: 0)
            let error = #expect(throws: AppGroupError.self) { try openShared(root, sharing: SharedContainerTests.team) }
            #expect(error?.code == .file)
            #expect(error?.underlying?.code == .permissionDenied)
        }
        #expect(try SystemFile.names(place.path("top")) == [])
    }

    @Test func nothingIsSharedWhereTheOthersCouldNotUseIt() async throws {
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            _ = try GroupContainer.open(AppGroup("group.first"), in: GroupsHome(root: root))
            let error = #expect(throws: AppGroupError.self) { try openShared(root, sharing: SharedContainerTests.team) }
            #expect(error?.code == .notShared)
        }
        #expect(status(of: container()) == nil)
    }

    // MARK: Opening

    @Test func aMemberOpensAndCompletesWhatAnotherMade() async throws {
        await make()
        #expect(rmdir(container("Library/Caches")) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0o077)
            #expect(try openShared(root, creating: false).sharing == SharedContainerTests.team)
            let container = try openShared(root)
            #expect(container.sharing == SharedContainerTests.team)
            for place in GroupContainer.StandardDirectory.allCases { _ = try container.directory(place) }
        }
        let made = try #require(status(of: container("Library/Caches")))
        #expect(made.st_uid == UnixUser.bob.uid)
        #expect(made.st_gid == UnixUser.team)
        #expect(made.st_mode & 0o7777 == 0o2770)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0o077)
            _ = try openShared(root)
        }
    }

    @Test(arguments: [true, false]) func aNonmemberGetsNothing(_ creating: Bool) async throws {
        await make()
        await #expect(processExitsWith: .success) { [root = root as String, creating = creating as Bool] in
            try become(.eve, umask: 0)
            let error = #expect(throws: AppGroupError.self) { try openShared(root, creating: creating) }
            #expect(error?.underlying?.code == .permissionDenied)
        }
        // A user with access all the same, such as root, does not trust it.
        let error = #expect(throws: AppGroupError.self) { try openShared(root, creating: creating) }
        #expect(error?.code == .unsafeContainer)
        #expect(error?.underlying?.code == .wrongOwner)
    }

    @Test func aMembersOwnContainerInASharedHomeStaysTheirs() async throws {
        await make()
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0)
            let container = try GroupContainer.open(AppGroup("group.own"), in: GroupsHome(root: root))
            #expect(container.sharing == .ownerOnly)
            // Ada's: the sticky bit keeps it from being moved away.
            #expect(rename(root + "/Containers/group.shared", root + "/Containers/taken") < 0)
        }
        #expect(mode(of: root + "/Containers/group.own") == 0o700)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            #expect(throws: AppGroupError.self) {
                try GroupContainer.open(AppGroup("group.own"), in: GroupsHome(root: root))
            }
        }
    }

    /// Two users create one container at the same moment: each must find every directory open to the group already.
    @Test func membersWhoMakeItAtOnceGetOneContainer() async throws {
        let root = root
        await withTaskGroup(of: Void.self) { tasks in
            for number in 0..<12 {
                tasks.addTask {
                    await #expect(processExitsWith: .success) { [root = root as String, number = number as Int] in
                        try become(number % 2 == 0 ? .ada : .bob, umask: 0o077)
                        #expect(try openShared(root, sharing: SharedContainerTests.team).sharing != .ownerOnly)
                    }
                }
            }
        }
        #expect(try SystemFile.names(container()) == ["Library"])
        #expect(try SystemFile.names(container("Library")).count == 3)
    }

    // MARK: Refusals

    @Test(arguments: ["Library", "Library/Caches"], [0o700, 0o755, 0o770, 0o2750, 0o2775] as [mode_t])
    func aPartThatIsNotSharedIsRefusedUntilTheAdviceIsFollowed(relative: String, mode: mode_t) async throws {
        await make()
        #expect(chmod(container(relative), mode) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            let error = #expect(throws: AppGroupError.self) { try openShared(root) }
            #expect(error?.code == .notShared)
            let advice = try #require(error).advice
            let command = try #require(advice.firstRange(of: ": ")).upperBound
            #expect(run(String(advice[command...])) == 0)
            _ = try openShared(root)
        }
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0)
            _ = try openShared(root, creating: false)
        }
    }

    @Test func aPartThatAnotherGroupSharesIsRefused() async throws {
        await make()
        #expect(chown(container("Library"), UnixUser.bob.uid, 4790) == 0)
        #expect(chmod(container("Library"), 0o2770) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0)
            #expect(#expect(throws: AppGroupError.self) { try openShared(root) }?.code == .notShared)
        }
    }

    @Test func aSharedPartOfAnOwnersContainerIsRefused() async throws {
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            _ = try openShared(root)
        }
        #expect(chown(container("Library/Caches"), UnixUser.ada.uid, UnixUser.team) == 0)
        #expect(chmod(container("Library/Caches"), 0o2770) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.ada, umask: 0)
            #expect(#expect(throws: AppGroupError.self) { try openShared(root) }?.code == .unsafeContainer)
        }
    }

    @Test(arguments: ["Containers", "Containers/group.shared", "Containers/group.shared/Library"])
    func aLinkThatAMemberPlantsIsNotFollowed(_ relative: String) async throws {
        await make()
        let path = "\(root)/\(relative)"
        #expect(rename(path, path + ".moved") == 0)
        #expect(symlink(path + ".moved", path) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0)
            for creating in [true, false] {
                let error = #expect(throws: AppGroupError.self) { try openShared(root, creating: creating) }
                #expect(error?.code == .notADirectory)
            }
        }
    }

    /// In /tmp and its like any member of the group could have taken the name first.
    @Test func anotherUsersHomeInAWorldWritableDirectoryIsRefused() async throws {
        await make()
        #expect(chmod(place.path("top"), 0o1777) == 0)
        await #expect(processExitsWith: .success) { [root = root as String] in
            try become(.bob, umask: 0)
            let error = #expect(throws: AppGroupError.self) { try openShared(root) }
            #expect(error?.code == .unsafeContainer)
        }
    }
}

/// Changes this process's user permanently.
private func become(_ user: UnixUser, umask mask: mode_t) throws {
    umask(mask)
    try #require(setgroups(user.groups.count, user.groups) == 0)
    try #require(setgid(user.gid) == 0)
    try #require(setuid(user.uid) == 0)
}

@discardableResult
private func openShared(
    _ root: String, creating: Bool = true, sharing: Sharing = .ownerOnly
) throws -> GroupContainer {
    try GroupContainer.open(AppGroup("group.shared"), in: GroupsHome(root: root), creating: creating, sharing: sharing)
}
