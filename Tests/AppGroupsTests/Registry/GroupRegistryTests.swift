import AppGroups
import SharedFiles
import TestSupport
import Testing

@Suite struct GroupRegistryTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    @Test func anUnregisteredGroupHasNoMembersAndNoRegistry() throws {
        #expect(try sandbox.registry.members().isEmpty)
        #expect(!SystemFile.exists("\(sandbox.root)/Registry"))
    }

    @Test func aMemberIsKnownByItsIdentifierAndItsExecutable() throws {
        let member = try GroupMember(applicationIdentifier: "ABCDE12345.com.example.app", executablePath: "/bin/sh")
        try sandbox.registry.register(member)
        let found = try sandbox.registry.members()
        #expect(found == [member])
        #expect(try sandbox.registry.member(executable: member.executablePath) == member)
        #expect(try sandbox.registry.member(executable: "/nowhere") == nil)
    }

    @Test func aPathWithLinksIsRegisteredWithoutThem() throws {
        let directory = try TemporaryDirectory()
        try directory.file("program", "")
        try directory.link("alias", to: "program")
        let member = try GroupMember(applicationIdentifier: "app", executablePath: directory.path("alias"))
        #expect(member.executablePath == directory.path("program"))
    }

    @Test func registeringAgainTakesTheNewPlaceOfTheProgram() throws {
        try sandbox.register("app")
        try sandbox.registry.register(GroupMember(applicationIdentifier: "app", executablePath: "/opt/app"))
        #expect(try sandbox.registry.members().map(\.executablePath) == ["/opt/app"])
    }

    @Test(arguments: ["", "-app", "an app", "app/../x", "app\n", String(repeating: "a", count: 256)])
    func anInvalidApplicationIdentifierIsRefused(identifier: String) {
        #expect(code { _ = try GroupMember(applicationIdentifier: identifier, executablePath: "/x") } == .invalidMember)
    }

    @Test(arguments: ["", "relative", "/a\u{1B}[2J", "/" + String(repeating: "a", count: 4096)])
    func whatIsNoAbsolutePathIsRefused(path: String) {
        #expect(code { _ = try GroupMember(applicationIdentifier: "app", executablePath: path) } == .invalidMember)
    }

    @Test func registeringMakesTheContainerInTheStyleOfTheBehavior() throws {
        let container = try sandbox.register("app", .iOS)
        #expect(container.style == .opaque)
        let directory = try #require(sandbox.directories.first)
        #expect(directory.count == 36 && directory != sandbox.group.identifier)
        #expect(try SystemFile.names("\(container.path)/Library") == ["Caches"])
    }

    @Test func withoutABehaviorTheContainerIsNamed() throws {
        #expect(try sandbox.register().path.hasSuffix("/\(sandbox.group)"))
    }

    @Test func everyOpenFindsTheOpaqueContainerRegardlessOfItsBehavior() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        for behavior in ContainerBehavior.allCases {
            let opened = try sandbox.open(behavior: behavior)
            #expect(opened.path == container.path && opened.style == .opaque && sandbox.hasMark(opened))
        }
        #expect(try sandbox.open(creating: false).path == container.path)
        #expect(sandbox.directories.count == 1)
    }

    @Test func theLastMemberTakesTheOpaqueContainerWithItIntoTheTrash() throws {
        let first = try sandbox.register("app", .iOS)
        try sandbox.mark(first)
        try sandbox.register("extension")
        #expect(try sandbox.registry.unregister("app") == nil)
        #expect(sandbox.hasMark(try sandbox.open(creating: false)))

        let place = try #require(try sandbox.registry.unregister("extension"))
        #expect(SystemFile.exists("\(place)/mark"))
        #expect(sandbox.directories.isEmpty)
        #expect(code { _ = try sandbox.open(creating: false) } == .containerMissing)
    }

    @Test func itsSuccessorIsEmptyAndHasAnotherName() throws {
        let first = try sandbox.register("app", .iOS)
        try sandbox.mark(first)
        try sandbox.registry.unregister("app")
        let second = try sandbox.open()
        #expect(second.style == .opaque)
        #expect(second.path != first.path && !sandbox.hasMark(second))
        #expect(try sandbox.registry.members().isEmpty)
        #expect(try sandbox.registry.entry()?.generation == 2)
    }

    @Test func aNamedContainerStaysWhenItsLastMemberLeaves() throws {
        let container = try sandbox.register()
        try sandbox.mark(container)
        #expect(try sandbox.registry.unregister("app") == nil)
        #expect(sandbox.hasMark(try sandbox.open(creating: false)))
        #expect(sandbox.trashed.isEmpty)
    }

    @Test func aNonmemberCannotLeave() throws {
        try sandbox.register("app", .iOS)
        #expect(code { try sandbox.registry.unregister("other") } == .notAMember)
        #expect(sandbox.directories.count == 1)
    }

    @Test func leavingAnUnknownGroupCreatesNothing() throws {
        #expect(code { try sandbox.registry.unregister("app") } == .containerMissing)
        #expect(code { try sandbox.registry.reset() } == .containerMissing)
        #expect(code { try sandbox.registry.setQuota(1) } == .containerMissing)
        #expect(!SystemFile.exists("\(sandbox.root)/Registry"))
        #expect(!SystemFile.exists("\(sandbox.root)/Containers"))
    }

    @Test func aContainerKeepsItsStyle() throws {
        try sandbox.register("app")
        #expect(code { try sandbox.register("extension", .iOS) } == .wrongStyle)
        #expect(try sandbox.open(behavior: .iOS).style == .named)
        #expect(try sandbox.registry.members().map(\.applicationIdentifier) == ["app"])
    }

    @Test func aContainerThatWasThereBeforeTheRegistryIsRegisteredAsItIs() throws {
        let container = try sandbox.open()
        try sandbox.mark(container)
        #expect(!SystemFile.exists(sandbox.file))
        #expect(try sandbox.register().path == container.path)
        #expect(SystemFile.exists("\(container.path)/.sealedstate.container"))
    }

    @Test(arguments: ContainerBehavior.allCases)
    func aResetLeavesAnEmptyContainerAndTheMembers(behavior: ContainerBehavior) throws {
        let old = try sandbox.register("app", behavior)
        try sandbox.mark(old)
        try sandbox.registry.setQuota(5000)
        let place = try #require(try sandbox.registry.reset())
        #expect(SystemFile.exists("\(place)/mark"))
        let new = try sandbox.open(creating: false)
        #expect(!sandbox.hasMark(new) && new.style == behavior.style)
        #expect((new.path == old.path) == (behavior == .macOS))
        #expect(try new.quota() == 5000)
        #expect(try sandbox.registry.members().map(\.applicationIdentifier) == ["app"])
    }

    @Test func aResetMakesRoomForAContainerThatIsGoneForGood() throws {
        let old = try sandbox.register("app", .iOS)
        run("rm -rf \(sandbox.shell(old.path))")
        #expect(code { _ = try sandbox.open() } == .containerAway)
        #expect(try sandbox.registry.reset() == nil)
        #expect(try sandbox.open(creating: false).path != old.path)
    }

    @Test func filesHaveTheModesOfTheContainer() throws {
        let container = try sandbox.register("app", .iOS)
        #expect(mode(of: container.path) == 0o700)
        #expect(mode(of: "\(container.path)/.sealedstate.container") == 0o600)
        #expect(mode(of: "\(sandbox.root)/Registry") == 0o700)
        #expect(mode(of: "\(sandbox.root)/Registry/\(sandbox.group)") == 0o700)
        #expect(mode(of: sandbox.file) == 0o600)
    }

    @Test func aThousandMembersAreTheMost() throws {
        let members = try (0..<1024).map { try sandbox.member("app\($0)") }
        // A thousand registrations, one by one, would take a thousand syncs.
        try sandbox.register("app0")
        let text = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        let item = try #require(text.firstRange(of: "\t\t<dict>"))
        let more = members.dropFirst().map {
            "\t\t<dict>\n\t\t\t<key>applicationIdentifier</key><string>\($0.applicationIdentifier)</string>"
                + "<key>executable</key><string>/x</string><key>registered</key><date>2026-11-21T00:00:00Z</date></dict>\n"
        }
        let full = text.replacingCharacters(in: item, with: more.joined() + "\t\t<dict>")
        try SystemFile.write(sandbox.file, Array(full.utf8))
        #expect(try sandbox.registry.members().count == 1024)
        #expect(code { try sandbox.register("one-more") } == .tooManyMembers)
        #expect(try sandbox.registry.members().count == 1024)
    }

    @Test func anUnreadableRegistryIsNotWritten() throws {
        try sandbox.register("app")
        let before = try SystemFile.read(sandbox.file)
        let path = "/" + String(repeating: "p", count: 4000)
        let text = String(decoding: before, as: UTF8.self)
        let item = try #require(text.firstRange(of: "\t\t<dict>"))
        let more = (0..<245).map {
            "<dict><key>applicationIdentifier</key><string>b\($0)</string><key>executable</key><string>\(path)</string>"
                + "<key>registered</key><date>2026-11-21T00:00:00Z</date></dict>"
        }
        let full = Array(text.replacingCharacters(in: item, with: more.joined() + "\t\t<dict>").utf8)
        try SystemFile.write(sandbox.file, full)
        let last = try GroupMember(applicationIdentifier: "one", executablePath: path + "q")
        #expect(throws: AppGroupError.self) {
            for number in 0..<8 {
                try sandbox.registry.register(
                    GroupMember(applicationIdentifier: "one\(number)", executablePath: last.executablePath))
            }
        }
        #expect(try sandbox.registry.members().count > 245)
    }

    @Test func onlyWhoIsGoneForCertainIsTakenOut() throws {
        let directory = try TemporaryDirectory()
        try directory.file("version-1", "")
        try directory.link("program", to: "version-1")
        try sandbox.registry.register(
            GroupMember(applicationIdentifier: "linked", executablePath: directory.path("program")), behavior: .iOS)
        // The next version: the link leads to another file.
        run("cd \(sandbox.shell(directory.path)) && mv version-1 version-2 && ln -sf version-2 program")
        #expect(try sandbox.registry.unregisterRemoved().left.isEmpty)
        try sandbox.registry.register(
            GroupMember(applicationIdentifier: "looping", executablePath: directory.path("loop")))
        try directory.link("loop", to: "loop")
        #expect(try sandbox.registry.unregisterRemoved().left.isEmpty)
        run("rm \(sandbox.shell(directory.path("loop")))")
        #expect(try sandbox.registry.unregisterRemoved() == (["looping"], nil))
        run("rm -r \(sandbox.shell(directory.path))/*")
        let (left, trashed) = try sandbox.registry.unregisterRemoved()
        #expect(left == ["linked"] && trashed != nil)
    }

    @Test func anOpaqueContainersSuccessorMayBeOfTheOtherStyle() throws {
        try sandbox.register("app", .iOS)
        try sandbox.registry.unregister("app")
        #expect(try sandbox.register("app", .macOS).style == .named)
        #expect(try sandbox.registry.entry()?.style == .named)
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
