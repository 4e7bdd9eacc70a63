import AppGroups
import Glibc
import SharedFiles
import SystemPackage
import Testing

@Suite struct ContainerSafetyTests {
    let temporary: TemporaryHome
    let group: AppGroup

    init() throws {
        temporary = try TemporaryHome()
        group = try AppGroup("group.com.example.app")
    }

    private func open(creating: Bool = true) throws(AppGroupError) -> GroupContainer {
        try GroupContainer.open(group, in: temporary.home, creating: creating)
    }

    /// Runs the command at the end of an error's advice.
    private func repair(_ error: AppGroupError?) throws {
        let advice = try #require(error).advice
        let command = try #require(advice.firstRange(of: ": ")).upperBound
        #expect(run(String(advice[command...])) == 0)
    }

    // MARK: Modes and owners

    @Test(arguments: GroupContainerTests.everyDirectory, [0o720, 0o702, 0o770, 0o777, 0o1777, 0o2775])
    func aDirectoryThatOthersMayWriteIsRefusedUntilTheAdviceIsFollowed(relative: String, mode: mode_t) throws {
        _ = try open()
        #expect(chmod(temporary.path(group, relative), mode) == 0)
        for creating in [true, false] {
            let error = #expect(throws: AppGroupError.self) { try open(creating: creating) }
            #expect(error?.code == .unsafeContainer)
            #expect(error?.underlying?.code == .unsafeMode)
            #expect(
                error?.subject == temporary.home.containersPath.appending(group.identifier).appending(relative).string)
        }
        try repair(#expect(throws: AppGroupError.self) { try open() })
        #expect(throws: Never.self) { try open() }
    }

    @Test(arguments: GroupContainerTests.everyDirectory, [0o755, 0o750, 0o711])
    func aDirectoryThatOthersMayOnlyReadIsAccepted(relative: String, mode: mode_t) throws {
        _ = try open()
        #expect(chmod(temporary.path(group, relative), mode) == 0)
        #expect(throws: Never.self) { try open() }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a directory away"),
        arguments: GroupContainerTests.everyDirectory)
    func aDirectoryOfAnotherUserIsRefusedAndLeftToThatUser(relative: String) throws {
        _ = try open()
        #expect(chown(temporary.path(group, relative), 65534, 65534) == 0)
        let error = #expect(throws: AppGroupError.self) { try open() }
        #expect(error?.code == .unsafeContainer)
        #expect(error?.underlying?.code == .wrongOwner)
        for command in ["chown", "chmod", "rm "] { #expect(error?.advice.contains(command) == false) }
    }

    @Test func aMissingStandardDirectoryHidesNoUnsafeOne() throws {
        _ = try open()
        #expect(rmdir(temporary.path(group, "Library/Application Support")) == 0)
        #expect(chmod(temporary.path(group, "Library/Preferences"), 0o777) == 0)
        let error = #expect(throws: AppGroupError.self) { try open(creating: false) }
        #expect(error?.code == .unsafeContainer)
    }

    @Test func aContainerThatBecomesUnsafeIsRefusedOnUse() throws {
        let container = try open()
        #expect(chmod(temporary.path(group, "Library/Caches"), 0o777) == 0)
        let error = #expect(throws: AppGroupError.self) { try container.directory(.caches) }
        #expect(error?.code == .unsafeContainer)
        #expect(throws: Never.self) { try container.directory(.preferences) }
    }

    // MARK: Above the container

    @Test(arguments: [0o720, 0o702, 0o777, 0o1777])
    func aDirectoryOfContainersThatOthersMayWriteIsRefused(mode: mode_t) throws {
        _ = try open()
        #expect(chmod(temporary.home.containersPath.string, mode) == 0)
        let error = #expect(throws: AppGroupError.self) { try open() }
        #expect(error?.code == .unsafeContainer)
        try repair(error)
        #expect(throws: Never.self) { try open() }
    }

    @Test func aWorldWritableAncestorIsRefusedUntilTheAdviceIsFollowed() throws {
        _ = try open()
        #expect(chmod(temporary.base, 0o777) == 0)
        let error = #expect(throws: AppGroupError.self) { try open() }
        #expect(error?.code == .unsafeContainer)
        #expect(error?.subject == temporary.base)
        try repair(error)
        #expect(throws: Never.self) { try open() }
    }

    @Test func anAncestorWithTheStickyBitIsAccepted() throws {
        _ = try open()
        #expect(chmod(temporary.base, 0o1777) == 0)
        #expect(throws: Never.self) { try open() }
    }

    // MARK: Links and files

    /// Shell commands that put another object in a directory's place, at the path `"$0"`.
    static let impostors = [
        "ln -s /etc \"$0\"", "ln -s /nonexistent/target \"$0\"", "ln -s . \"$0\"", "echo text > \"$0\"",
        "mkfifo \"$0\"",
    ]

    private func put(_ impostor: String, at path: String) {
        let quoted = path.shellQuoted
        #expect(run("mkdir -p \"$(dirname \(quoted))\" && rm -rf \(quoted)") == 0)
        #expect(run("sh -c \(impostor.shellQuoted) \(quoted)") == 0)
    }

    @Test(arguments: GroupContainerTests.everyDirectory, impostors)
    func anythingButADirectoryIsRefusedAndLeftAlone(relative: String, impostor: String) throws {
        _ = try open()
        let path = temporary.path(group, relative)
        put(impostor, at: path)
        let before = try #require(status(of: path))
        for creating in [true, false] {
            let error = #expect(throws: AppGroupError.self) { try open(creating: creating) }
            #expect(error?.code == .notADirectory)
            #expect(
                error?.subject == temporary.home.containersPath.appending(group.identifier).appending(relative).string)
        }
        #expect(status(of: path)?.st_ino == before.st_ino)
        #expect(status(of: "/nonexistent") == nil)
    }

    @Test(arguments: impostors)
    func anythingButADirectoryOfContainersIsRefused(impostor: String) {
        put(impostor, at: temporary.home.containersPath.string)
        for creating in [true, false] {
            let error = #expect(throws: AppGroupError.self) { try open(creating: creating) }
            #expect(error?.code == .notADirectory)
        }
    }

    @Test func aLinkAboveTheContainersIsFollowed() throws {
        let linked = temporary.base + "/linked"
        #expect(symlink(temporary.base, linked) == 0)
        let direct = try GroupContainer.open(group, in: GroupsHome(root: temporary.base + "/home"))
        let throughLink = try GroupContainer.open(group, in: GroupsHome(root: linked + "/home"))
        #expect(try throughLink.root.attributes(".").isSameFile(as: direct.root.attributes(".")))
    }
}
