import AppGroups
import SharedFiles
import TestSupport
import Testing

@Suite struct GroupRegistryTests {
    private let yard: RegistryYard

    init() throws { yard = try RegistryYard() }

    @Test func aGroupThatNobodyRegisteredHasNoMembersAndNoRegistry() throws {
        #expect(try yard.registry.members().isEmpty)
        #expect(!SystemFile.exists("\(yard.root)/Registry"))
    }

    @Test func aMemberIsKnownByItsIdentifierAndItsExecutable() throws {
        let member = try GroupMember(applicationIdentifier: "ABCDE12345.com.example.app", executablePath: "/bin/sh")
        try yard.registry.register(member)
        let found = try yard.registry.members()
        #expect(found == [member])
        #expect(try yard.registry.member(executable: member.executablePath) == member)
        #expect(try yard.registry.member(executable: "/nowhere") == nil)
    }

    @Test func aPathWithLinksIsRegisteredWithoutThem() throws {
        let directory = try TemporaryDirectory()
        try directory.file("program", "")
        try directory.link("alias", to: "program")
        let member = try GroupMember(applicationIdentifier: "app", executablePath: directory.path("alias"))
        #expect(member.executablePath == directory.path("program"))
    }

    @Test func registeringAgainTakesTheNewPlaceOfTheProgram() throws {
        try yard.register("app")
        try yard.registry.register(GroupMember(applicationIdentifier: "app", executablePath: "/opt/app"))
        #expect(try yard.registry.members().map(\.executablePath) == ["/opt/app"])
    }

    @Test(arguments: ["", "-app", "an app", "app/../x", "app\n", String(repeating: "a", count: 256)])
    func whatIsNoApplicationIdentifierIsRefused(identifier: String) {
        #expect(code { _ = try GroupMember(applicationIdentifier: identifier, executablePath: "/x") } == .invalidMember)
    }

    @Test(arguments: ["", "relative", "/a\u{1B}[2J", "/" + String(repeating: "a", count: 4096)])
    func whatIsNoAbsolutePathIsRefused(path: String) {
        #expect(code { _ = try GroupMember(applicationIdentifier: "app", executablePath: path) } == .invalidMember)
    }

    @Test func registeringMakesTheContainerInTheStyleOfTheBehavior() throws {
        let container = try yard.register("app", .iOS)
        #expect(container.style == .opaque)
        let directory = try #require(yard.directories.first)
        #expect(directory.count == 36 && directory != yard.group.identifier)
        #expect(try SystemFile.names("\(container.path)/Library") == ["Caches"])
    }

    @Test func withoutABehaviorTheContainerIsNamed() throws {
        #expect(try yard.register().path.hasSuffix("/\(yard.group)"))
    }

    @Test func everyOpenFindsTheOpaqueContainerWhateverItsBehavior() throws {
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        for behavior in ContainerBehavior.allCases {
            let opened = try yard.open(behavior: behavior)
            #expect(opened.path == container.path && opened.style == .opaque && yard.hasMark(opened))
        }
        #expect(try yard.open(creating: false).path == container.path)
        #expect(yard.directories.count == 1)
    }

    @Test func theLastMemberTakesTheOpaqueContainerWithItIntoTheTrash() throws {
        let first = try yard.register("app", .iOS)
        try yard.mark(first)
        try yard.register("extension")
        #expect(try yard.registry.unregister("app") == nil)
        #expect(yard.hasMark(try yard.open(creating: false)))

        let place = try #require(try yard.registry.unregister("extension"))
        #expect(SystemFile.exists("\(place)/mark"))
        #expect(yard.directories.isEmpty)
        #expect(code { _ = try yard.open(creating: false) } == .containerMissing)
    }

    @Test func itsSuccessorIsEmptyAndHasAnotherName() throws {
        let first = try yard.register("app", .iOS)
        try yard.mark(first)
        try yard.registry.unregister("app")
        let second = try yard.open()
        #expect(second.style == .opaque)
        #expect(second.path != first.path && !yard.hasMark(second))
        #expect(try yard.registry.members().isEmpty)
        #expect(try yard.registry.entry()?.generation == 2)
    }

    @Test func aNamedContainerStaysWhenItsLastMemberLeaves() throws {
        let container = try yard.register()
        try yard.mark(container)
        #expect(try yard.registry.unregister("app") == nil)
        #expect(yard.hasMark(try yard.open(creating: false)))
        #expect(yard.trashed.isEmpty)
    }

    @Test func whoIsNoMemberCannotLeave() throws {
        try yard.register("app", .iOS)
        #expect(code { try yard.registry.unregister("other") } == .notAMember)
        #expect(yard.directories.count == 1)
    }

    @Test func leavingAGroupThatNobodyKnowsMakesNothing() throws {
        #expect(code { try yard.registry.unregister("app") } == .containerMissing)
        #expect(code { try yard.registry.reset() } == .containerMissing)
        #expect(code { try yard.registry.setQuota(1) } == .containerMissing)
        #expect(!SystemFile.exists("\(yard.root)/Registry"))
        #expect(!SystemFile.exists("\(yard.root)/Containers"))
    }

    @Test func aContainerKeepsItsStyle() throws {
        try yard.register("app")
        #expect(code { try yard.register("extension", .iOS) } == .wrongStyle)
        #expect(try yard.open(behavior: .iOS).style == .named)
        #expect(try yard.registry.members().map(\.applicationIdentifier) == ["app"])
    }

    @Test func aContainerThatWasThereBeforeTheRegistryIsRegisteredAsItIs() throws {
        let container = try yard.open()
        try yard.mark(container)
        #expect(!SystemFile.exists(yard.file))
        #expect(try yard.register().path == container.path)
        #expect(SystemFile.exists("\(container.path)/.sealedstate.container"))
    }

    @Test(arguments: ContainerBehavior.allCases)
    func aResetLeavesAnEmptyContainerAndTheMembers(behavior: ContainerBehavior) throws {
        let old = try yard.register("app", behavior)
        try yard.mark(old)
        try yard.registry.setQuota(5000)
        let place = try #require(try yard.registry.reset())
        #expect(SystemFile.exists("\(place)/mark"))
        let new = try yard.open(creating: false)
        #expect(!yard.hasMark(new) && new.style == behavior.style)
        #expect((new.path == old.path) == (behavior == .macOS))
        #expect(try new.quota() == 5000)
        #expect(try yard.registry.members().map(\.applicationIdentifier) == ["app"])
    }

    @Test func aResetMakesRoomForAContainerThatIsGoneForGood() throws {
        let old = try yard.register("app", .iOS)
        run("rm -rf \(yard.shell(old.path))")
        #expect(code { _ = try yard.open() } == .containerAway)
        #expect(try yard.registry.reset() == nil)
        #expect(try yard.open(creating: false).path != old.path)
    }

    @Test func filesHaveTheModesOfTheContainer() throws {
        let container = try yard.register("app", .iOS)
        #expect(mode(of: container.path) == 0o700)
        #expect(mode(of: "\(container.path)/.sealedstate.container") == 0o600)
        #expect(mode(of: "\(yard.root)/Registry") == 0o700)
        #expect(mode(of: "\(yard.root)/Registry/\(yard.group)") == 0o700)
        #expect(mode(of: yard.file) == 0o600)
    }

    @Test func aThousandMembersAreTheMost() throws {
        let members = try (0..<1024).map { try yard.member("app\($0)") }
        // A thousand registrations, one by one, would take a thousand syncs.
        try yard.register("app0")
        let text = String(decoding: try SystemFile.read(yard.file), as: UTF8.self)
        let item = try #require(text.firstRange(of: "\t\t<dict>"))
        let more = members.dropFirst().map {
            "\t\t<dict>\n\t\t\t<key>applicationIdentifier</key><string>\($0.applicationIdentifier)</string>"
                + "<key>executable</key><string>/x</string><key>registered</key><date>2026-11-21T00:00:00Z</date></dict>\n"
        }
        let full = text.replacingCharacters(in: item, with: more.joined() + "\t\t<dict>")
        try SystemFile.write(yard.file, Array(full.utf8))
        #expect(try yard.registry.members().count == 1024)
        #expect(code { try yard.register("one-more") } == .tooManyMembers)
        #expect(try yard.registry.members().count == 1024)
    }

    @Test func aRegistryThatNobodyWouldReadAgainIsNotWritten() throws {
        try yard.register("app")
        let before = try SystemFile.read(yard.file)
        let path = "/" + String(repeating: "p", count: 4000)
        let text = String(decoding: before, as: UTF8.self)
        let item = try #require(text.firstRange(of: "\t\t<dict>"))
        let more = (0..<245).map {
            "<dict><key>applicationIdentifier</key><string>b\($0)</string><key>executable</key><string>\(path)</string>"
                + "<key>registered</key><date>2026-11-21T00:00:00Z</date></dict>"
        }
        let full = Array(text.replacingCharacters(in: item, with: more.joined() + "\t\t<dict>").utf8)
        try SystemFile.write(yard.file, full)
        let last = try GroupMember(applicationIdentifier: "one", executablePath: path + "q")
        #expect(throws: AppGroupError.self) {
            for number in 0..<8 {
                try yard.registry.register(
                    GroupMember(applicationIdentifier: "one\(number)", executablePath: last.executablePath))
            }
        }
        #expect(try yard.registry.members().count > 245)
    }

    @Test func onlyWhoIsGoneForCertainIsTakenOut() throws {
        let directory = try TemporaryDirectory()
        try directory.file("version-1", "")
        try directory.link("program", to: "version-1")
        try yard.registry.register(
            GroupMember(applicationIdentifier: "linked", executablePath: directory.path("program")), behavior: .iOS)
        // The next version: the link leads to another file.
        run("cd \(yard.shell(directory.path)) && mv version-1 version-2 && ln -sf version-2 program")
        #expect(try yard.registry.unregisterRemoved().left.isEmpty)
        try yard.registry.register(
            GroupMember(applicationIdentifier: "looping", executablePath: directory.path("loop")))
        try directory.link("loop", to: "loop")
        #expect(try yard.registry.unregisterRemoved().left.isEmpty)
        run("rm \(yard.shell(directory.path("loop")))")
        #expect(try yard.registry.unregisterRemoved() == (["looping"], nil))
        run("rm -r \(yard.shell(directory.path))/*")
        let (left, trashed) = try yard.registry.unregisterRemoved()
        #expect(left == ["linked"] && trashed != nil)
    }

    @Test func anOpaqueContainersSuccessorMayBeOfTheOtherStyle() throws {
        try yard.register("app", .iOS)
        try yard.registry.unregister("app")
        #expect(try yard.register("app", .macOS).style == .named)
        #expect(try yard.registry.entry()?.style == .named)
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
