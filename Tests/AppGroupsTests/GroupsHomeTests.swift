import AppGroups
import Glibc
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct GroupsHomeTests {
    /// An environment and its four directories.
    struct Resolution: Sendable, CustomTestStringConvertible {
        let name: String
        let environment: [String: String]
        var accountHome: String? = "/home/account"
        let paths: [FilePath]

        var testDescription: String { name }
    }

    static let resolutions = [
        Resolution(
            name: "one directory for everything", environment: ["SEALED_GROUPS_HOME": "/srv/groups"],
            paths: ["/srv/groups/Containers", "/srv/groups/Vaults", "/srv/groups/Keys", "/srv/groups/Watermarks"]),
        Resolution(
            name: "one directory wins over the others",
            environment: [
                "SEALED_GROUPS_HOME": "/r", "HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c",
                "XDG_STATE_HOME": "/s",
            ],
            paths: ["/r/Containers", "/r/Vaults", "/r/Keys", "/r/Watermarks"]),
        Resolution(
            name: "one directory for all users and one for this user",
            environment: ["SEALED_GROUPS_HOME": "/r", "SEALED_USER_HOME": "/u", "HOME": "/h"],
            paths: ["/r/Containers", "/r/Vaults", "/u/Keys", "/u/Watermarks"]),
        Resolution(
            name: "one directory for this user beside a home",
            environment: ["HOME": "/h", "SEALED_USER_HOME": "/u"],
            paths: [
                "/h/.local/share/sealed-groups/Containers", "/h/.local/share/sealed-groups/Vaults", "/u/Keys",
                "/u/Watermarks",
            ]),
        Resolution(
            name: "no home if both directories are stated",
            environment: ["XDG_DATA_HOME": "/d", "SEALED_USER_HOME": "/u"], accountHome: nil,
            paths: ["/d/sealed-groups/Containers", "/d/sealed-groups/Vaults", "/u/Keys", "/u/Watermarks"]),
        Resolution(
            name: "a trailing slash changes nothing", environment: ["SEALED_GROUPS_HOME": "/r/"],
            paths: ["/r/Containers", "/r/Vaults", "/r/Keys", "/r/Watermarks"]),
        Resolution(
            name: "one directory needs no home", environment: ["SEALED_GROUPS_HOME": "/r"], accountHome: nil,
            paths: ["/r/Containers", "/r/Vaults", "/r/Keys", "/r/Watermarks"]),
        Resolution(
            name: "only HOME", environment: ["HOME": "/home/ada"], paths: defaults(below: "/home/ada")),
        Resolution(
            name: "spaces and accents in HOME", environment: ["HOME": "/home/ada b\u{F6}"],
            paths: defaults(below: "/home/ada b\u{F6}")),
        Resolution(
            name: "all base directories, no home",
            environment: ["XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"], accountHome: nil,
            paths: [
                "/d/sealed-groups/Containers", "/d/sealed-groups/Vaults", "/c/sealed-groups/Keys",
                "/s/sealed-groups/Watermarks",
            ]),
        Resolution(
            name: "one base directory", environment: ["HOME": "/h", "XDG_CONFIG_HOME": "/c"],
            paths: [
                "/h/.local/share/sealed-groups/Containers", "/h/.local/share/sealed-groups/Vaults",
                "/c/sealed-groups/Keys", "/h/.local/state/sealed-groups/Watermarks",
            ]),
        Resolution(
            name: "relative and empty base directories are ignored",
            environment: ["HOME": "/h", "XDG_DATA_HOME": "d", "XDG_CONFIG_HOME": "./c", "XDG_STATE_HOME": ""],
            paths: defaults(below: "/h")),
        Resolution(name: "no HOME", environment: [:], paths: defaults(below: "/home/account")),
        Resolution(name: "an empty HOME", environment: ["HOME": ""], paths: defaults(below: "/home/account")),
        Resolution(name: "a relative HOME", environment: ["HOME": "ada"], paths: defaults(below: "/home/account")),
    ]

    private static func defaults(below home: FilePath) -> [FilePath] {
        [
            home.appending(".local/share/sealed-groups/Containers"),
            home.appending(".local/share/sealed-groups/Vaults"),
            home.appending(".config/sealed-groups/Keys"),
            home.appending(".local/state/sealed-groups/Watermarks"),
        ]
    }

    @Test(arguments: resolutions)
    func anEnvironmentMeansFourDirectories(resolution: Resolution) throws {
        let home = try GroupsHome(environment: resolution.environment) { resolution.accountHome }
        #expect([home.containersPath, home.vaultsPath, home.keysPath, home.watermarksPath] == resolution.paths)
    }

    @Test(
        arguments: ["SEALED_GROUPS_HOME", "SEALED_USER_HOME"], ["", "relative", "./r", "../r", "~/r", " /r"])
    func aRootThatIsNotAbsoluteIsAnErrorAndNotIgnored(variable: String, root: String) {
        for other in [[:], ["SEALED_GROUPS_HOME": "/r"]] {
            let environment = other.merging([variable: root, "HOME": "/h"]) { $1 }
            let error = #expect(throws: AppGroupError.self) { try GroupsHome(environment: environment) { nil } }
            #expect(error?.code == .invalidHome)
            #expect(error?.subject == variable)
        }
    }

    @Test(arguments: [nil, "", "relative"])
    func withoutAnyHomeThereIsNoPlace(accountHome: String?) {
        let error = #expect(throws: AppGroupError.self) {
            try GroupsHome(environment: ["XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"]) { accountHome }
        }
        #expect(error?.code == .homeUnavailable)
    }

    @Test func theUserDatabaseIsAskedOnceAndOnlyWhenNeeded() throws {
        var asked = 0
        _ = try GroupsHome(environment: ["HOME": "/h"]) {
            asked += 1; return nil
        }
        #expect(asked == 0)
        _ = try GroupsHome(environment: [:]) {
            asked += 1; return "/h"
        }
        #expect(asked == 1)
    }

    @Test func theUserDatabaseKnowsTheHomeOfWhoRunsThis() throws {
        let home = try #require(AccountHome.read())
        #expect(FilePath(home).isAbsolute)
    }

    @Test func anExplicitRootMeansWhatTheVariableMeans() throws {
        #expect(try GroupsHome(root: "/r") == GroupsHome(environment: ["SEALED_GROUPS_HOME": "/r"]) { nil })
    }

    @Test func anExplicitRootOfTheUserMeansWhatTheVariableMeans() throws {
        let environment = ["SEALED_GROUPS_HOME": "/r", "SEALED_USER_HOME": "/u"]
        #expect(try GroupsHome(root: "/r", userRoot: "/u") == GroupsHome(environment: environment) { nil })
    }

    /// The user's own directories, never another user's, even if a variable names them.
    @Test(.enabled(if: geteuid() == 0, "root"))
    func inAnotherUsersHomeKeysAndWatermarksAreThisUsersOwn() throws {
        let place = try TemporaryDirectory()
        try place.directory("shared")
        try place.directory("other")
        try place.directory("own")
        for path in ["shared", "other"] { #expect(chown(place.path(path), 4701, 4701) == 0) }
        let shared = ["SEALED_GROUPS_HOME": place.path("shared")]
        func home(_ variables: [String: String]) throws -> [FilePath] {
            let home = try GroupsHome(environment: shared.merging(variables) { $1 }) { "/account" }
            #expect(home.vaultsPath == FilePath(place.path("shared/Vaults")))
            return [home.keysPath, home.watermarksPath]
        }
        let (own, other) = (place.path("own"), place.path("other"))
        #expect(
            try home(["HOME": own])
                == [
                    FilePath("\(own)/.config/sealed-groups/Keys"),
                    FilePath("\(own)/.local/state/sealed-groups/Watermarks"),
                ])
        #expect(
            try home(["HOME": other])
                == ["/account/.config/sealed-groups/Keys", "/account/.local/state/sealed-groups/Watermarks"])
        #expect(
            try home(["HOME": other, "XDG_STATE_HOME": own, "XDG_CONFIG_HOME": other])
                == ["/account/.config/sealed-groups/Keys", FilePath("\(own)/sealed-groups/Watermarks")])
        #expect(try home(["HOME": own, "SEALED_USER_HOME": "/u"]) == ["/u/Keys", "/u/Watermarks"])
    }

    @Test func aRelativeExplicitRootIsResolvedAtOnce() {
        let home = GroupsHome(root: "some/where", userRoot: "of/mine")
        #expect(home.keysPath.isAbsolute)
        #expect(home.keysPath.ends(with: "of/mine/Keys"))
        #expect(home.containersPath.isAbsolute)
        #expect(home.containersPath.ends(with: "some/where/Containers"))
    }

    /// Another user who can rename the contents of a home could remove a user's memory of a vault.
    @Test(arguments: [(0o700, true), (0o755, true), (0o1777, true), (0o3770, true), (0o770, false), (0o2770, false)])
    func aUsersMemoryIsInADirectoryThatOthersCannotRename(mode: UInt32, isInHome: Bool) throws {
        let directory = try TemporaryDirectory()
        let root = directory.path("groups")
        #expect(mkdir(root, 0o700) == 0 && chmod(root, mode) == 0)
        let home = try GroupsHome(
            environment: ["SEALED_GROUPS_HOME": root, "HOME": "/h"], accountHome: { nil })
        let state = isInHome ? "\(root)/Watermarks" : "/h/.local/state/sealed-groups/Watermarks"
        #expect(home.watermarksPath == FilePath(state))
        #expect(home.keysPath == FilePath("\(root)/Keys"))
    }

    /// Another user who can rename the home itself could remove the memory with it.
    @Test(arguments: [(0o755, true), (0o1777, true), (0o2770, false), (0o777, false)])
    func aUsersMemoryIsInAHomeThatOthersCannotRename(mode: UInt32, isInHome: Bool) throws {
        let directory = try TemporaryDirectory()
        let (team, groups) = (directory.path("team"), directory.path("team/groups"))
        #expect(mkdir(team, 0o700) == 0 && chmod(team, mode) == 0)
        let state = isInHome ? "\(groups)/Watermarks" : directory.path("h/.local/state/sealed-groups/Watermarks")
        func path(_ root: String) throws -> FilePath {
            try GroupsHome(environment: ["SEALED_GROUPS_HOME": root, "HOME": directory.path("h")]) { nil }
                .watermarksPath
        }
        #expect(try path(groups) == FilePath(state))
        #expect(mkdir(groups, 0o755) == 0)
        #expect(try path(groups) == FilePath(state))
        // A link does not hide the directory.
        try directory.link("linked", to: groups)
        let linked = directory.path("linked")
        #expect(try path(linked) == FilePath(isInHome ? "\(linked)/Watermarks" : state))
    }

    @Test(.enabled(if: geteuid() == 0, "root")) func aDirectoryOfAnotherUserOnTheWayIsOthersToo() throws {
        let directory = try TemporaryDirectory()
        for path in ["other", "other/groups", "groups"] { try directory.directory(path) }
        #expect(chown(directory.path("other"), 4701, 4701) == 0)
        try directory.link("linked", to: directory.path)
        #expect(lchown(directory.path("linked"), 4701, 4701) == 0)
        for root in ["other/groups", "linked/groups"] {
            let home = try GroupsHome(
                environment: ["SEALED_GROUPS_HOME": directory.path(root), "HOME": directory.path("h")],
                accountHome: { nil })
            #expect(
                home.watermarksPath == FilePath(directory.path("h/.local/state/sealed-groups/Watermarks")), "\(root)")
        }
    }

    @Test func memoriesOfARenamableHomeAreKnown() throws {
        let directory = try TemporaryDirectory()
        let home = { () throws -> GroupsHome in
            try GroupsHome(
                environment: [
                    "SEALED_GROUPS_HOME": directory.path("groups"), "XDG_STATE_HOME": directory.path("state"),
                    "HOME": directory.path("h"),
                ], accountHome: { nil })
        }
        #expect(try home().otherWatermarksPath == nil)
        for path in ["state", "state/sealed-groups", "state/sealed-groups/Places"] { try directory.directory(path) }
        #expect(
            try home().otherWatermarksPath == FilePath(directory.path("state/sealed-groups/Watermarks")))
    }

    @Test func oneDirectoryUnderTwoPathsIsNoOtherOne() throws {
        let directory = try TemporaryDirectory()
        for path in ["state", "state/sealed-groups", "state/sealed-groups/Places"] { try directory.directory(path) }
        try directory.link("linked", to: directory.path("state/sealed-groups"))
        for root in ["state/sealed-groups", "linked"] {
            let home = try GroupsHome(
                environment: [
                    "SEALED_GROUPS_HOME": directory.path(root), "XDG_STATE_HOME": directory.path("state"),
                    "HOME": directory.path("h"),
                ], accountHome: { nil })
            #expect(home.otherWatermarksPath == nil, "\(root)")
        }
    }

    @Test(arguments: ["/v/.": "/v", "v/./.": "v", ".": ".", "/": "/", "/v": "/v"])
    func aVaultsPathHasNoDotAtItsEnd(_ path: String, _ expected: String) {
        let home = GroupsHome(root: "/r").withVault(at: FilePath(path))
        #expect(home.vaultPath == FilePath(expected))
    }
}
