import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of the container behind notifications: missing, created again, planted with other objects, shared.
@Suite(.timeLimit(.minutes(10))) struct NotificationPlaceTests {
    private static let changed = NotificationTests.changed
    private static let file = ".notifications/" + changed

    // MARK: The container comes and goes

    @Test func anObserverWaitsForAContainer() async throws {
        let sandbox = try NotificationSandbox(creating: false)
        let counter = NotificationCounter()
        let observation = try sandbox.center.observe(Self.changed, counter)
        #expect(groupError { try sandbox.center.post(Self.changed) }?.code == .containerMissing)
        #expect(!SystemFile.exists(sandbox.root))
        _ = try GroupContainer.open(sandbox.group, in: sandbox.temporary.home)
        try sandbox.post(Self.changed)
        #expect(try await counter.more(than: 0))
        observation.cancel()
    }

    @Test func anObserverOutlivesItsContainer() async throws {
        let sandbox = try NotificationSandbox()
        let counter = NotificationCounter()
        let observation = try sandbox.center.observe(Self.changed, counter)
        for round in 0..<5 {
            let before = counter.count
            try sandbox.post(Self.changed)
            #expect(try await counter.more(than: before), "round \(round)")
            if round % 2 == 0 {
                #expect(run("rm -r \"\(sandbox.path().shellSafe)\"") == 0)
            } else {
                #expect(rename(sandbox.path(), sandbox.path() + ".old\(round)") == 0)
            }
            _ = try GroupContainer.open(sandbox.group, in: sandbox.temporary.home)
        }
        observation.cancel()
    }

    @Test func aContainerThatIsRemovedPostsNothing() async throws {
        let sandbox = try NotificationSandbox()
        try sandbox.center.post(Self.changed)
        let counter = NotificationCounter()
        let observation = try sandbox.center.observe(Self.changed, counter)
        #expect(rename(sandbox.path(), sandbox.path() + ".away") == 0)
        #expect(rename(sandbox.path() + ".away", sandbox.path()) == 0)
        let marker = NotificationCounter()
        let other = try sandbox.center.observe("marker", marker)
        try sandbox.center.post("marker")
        #expect(try await marker.more(than: 0))
        #expect(counter.count == 0)
        try sandbox.center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        [observation, other].forEach { $0.cancel() }
    }

    @Test func aCenterOfAnOpenContainerIsTheSame() async throws {
        let sandbox = try NotificationSandbox()
        let center = GroupNotificationCenter(try GroupContainer.open(sandbox.group, in: sandbox.temporary.home))
        #expect(center.group == sandbox.group)
        let counter = NotificationCounter()
        let observation = try center.observe(Self.changed, counter)
        try sandbox.center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        observation.cancel()
    }

    // MARK: Planted

    enum Plant: String, CaseIterable, Sendable {
        case link, danglingLink, fifo, directory, hardLink, otherFile, device

        static var possible: [Plant] { geteuid() == 0 ? allCases : allCases.filter { $0 != .device } }

        func plant(_ path: String, beside precious: String) {
            let answer: Int32 =
                switch self {
                case .link: symlink(precious, path)
                case .danglingLink: symlink(precious + ".new", path)
                case .fifo: mkfifo(path, 0o600)
                case .directory: mkdir(path, 0o700)
                case .hardLink: Glibc.link(precious, path)
                case .otherFile: rename(precious + ".copy", path)
                case .device: mknod(path, S_IFCHR | 0o600, 5 << 8)
                }
            #expect(answer == 0)
        }
    }

    @Test(arguments: Plant.possible) func aFilePlantedUnderTheNameIsRefusedAndLeftAlone(_ plant: Plant) throws {
        let sandbox = try NotificationSandbox()
        try sandbox.center.post("other")
        let precious = sandbox.path("precious")
        for name in [precious, precious + ".copy"] { try SystemFile.write(name, Array("long enough to matter".utf8)) }
        plant.plant(sandbox.path(Self.file), beside: precious)

        let expected: FileError.Code =
            [.link, .danglingLink, .hardLink, .otherFile].contains(plant) ? .unsafePath : .notRegularFile
        #expect(groupError { try sandbox.center.post(Self.changed) }?.underlying?.code == expected)
        #expect(groupError { _ = try sandbox.center.token(of: Self.changed) }?.underlying?.code == expected)
        #expect(groupError { _ = try sandbox.center.observe(Self.changed) {} }?.underlying?.code == expected)

        #expect(try SystemFile.read(precious) == Array("long enough to matter".utf8))
        #expect(!SystemFile.exists(precious + ".new"))
        if plant == .otherFile {
            #expect(try SystemFile.read(sandbox.path(Self.file)) == Array("long enough to matter".utf8))
        }
    }

    @Test(arguments: Plant.possible) func anObserverOutlivesWhatIsPlanted(_ plant: Plant) async throws {
        let sandbox = try NotificationSandbox()
        let counter = NotificationCounter()
        let observation = try sandbox.center.observe(Self.changed, counter)
        try sandbox.center.post(Self.changed)
        #expect(try await counter.more(than: 0))
        let precious = sandbox.path("precious")
        for name in [precious, precious + ".copy"] { try SystemFile.write(name, Array("long enough to matter".utf8)) }
        #expect(unlink(sandbox.path(Self.file)) == 0)
        plant.plant(sandbox.path(Self.file), beside: precious)
        #expect(run("rm -rf \"\(sandbox.path(Self.file).shellSafe)\"") == 0)
        let before = counter.count
        try sandbox.center.post(Self.changed)
        #expect(try await counter.more(than: before))
        observation.cancel()
    }

    @Test func aLinkInPlaceOfTheFolderIsRefused() throws {
        let sandbox = try NotificationSandbox()
        try SystemFile.write(sandbox.path("precious"), [])
        #expect(mkdir(sandbox.path("elsewhere"), 0o700) == 0)
        #expect(symlink("elsewhere", sandbox.path(".notifications")) == 0)
        #expect(groupError { try sandbox.center.post(Self.changed) }?.code == .notADirectory)
        #expect(try SystemFile.names(sandbox.path("elsewhere")) == [])
    }

    @Test func aContainerThatOthersMayChangeIsRefused() throws {
        let sandbox = try NotificationSandbox()
        try sandbox.center.post(Self.changed)
        for name in ["", ".notifications"] {
            #expect(chmod(sandbox.path(name), 0o722) == 0)
            #expect(groupError { try sandbox.center.post(Self.changed) }?.code == .unsafeContainer)
            #expect(groupError { _ = try sandbox.center.token(of: Self.changed) }?.code == .unsafeContainer)
            #expect(chmod(sandbox.path(name), 0o700) == 0)
        }
        try sandbox.center.post(Self.changed)
    }

    @Test func createdFilesAreTheOwnersAlone() throws {
        let sandbox = try NotificationSandbox()
        try sandbox.center.post(Self.changed)
        #expect(mode(of: sandbox.path(".notifications")) == 0o700)
        #expect(mode(of: sandbox.path(Self.file)) == 0o600)
        #expect(try SystemFile.names(sandbox.path(".notifications")) == [Self.changed])
    }

    // MARK: Shared

    @Test(.enabled(if: UnixUser.canBecome, "needs root and setpriv"), arguments: ["000", "077"])
    func theMembersOfAUnixGroupReceiveEachOthersPosts(_ umask: String) throws {
        let place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
        let home = GroupsHome(root: place.path("home"))
        let group = try AppGroup("group.notes")
        _ = try GroupContainer.open(group, in: home, sharing: .unixGroup(UnixUser.team))
        func start(_ user: UnixUser, _ command: String, _ rest: String...) throws -> ChildProcess {
            let words = ["notification-" + command, place.path("home"), group.identifier, Self.changed] + rest
            return try user.start("sealed-probe", words, umask: umask)
        }
        let observers = try [UnixUser.ada, .bob].map { try start($0, "observe") }
        for observer in observers { #expect(try observer.readLine() == "observing") }
        for user in [UnixUser.ada, .bob, .ada] {
            #expect(try start(user, "post", "1").finish().outputText == "posted\n")
            for observer in observers { #expect(try observer.readLine() == "notified") }
        }
        #expect(try start(.eve, "post", "1").finish().outputText != "posted\n")
        let container = place.path("home/Containers/group.notes/")
        #expect(mode(of: container + ".notifications") == 0o2770)
        #expect(mode(of: container + Self.file) == 0o660)
        #expect(status(of: container + Self.file)?.st_gid == UnixUser.team)
    }
}

extension String {
    /// The text, escaped for a word in double quotes.
    fileprivate var shellSafe: String {
        split(separator: "$", omittingEmptySubsequences: false).joined(separator: "\\$")
    }
}
