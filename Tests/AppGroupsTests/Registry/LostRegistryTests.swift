import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of a registry that is lost, damaged or edited: no fresh container beside a full one, and no file is
/// overwritten.
@Suite struct LostRegistryTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    @Test func withoutARegistryTheContainerIsFoundByItsOwnCopy() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        try sandbox.registry.setQuota(9000)
        sandbox.removeRegistry()

        #expect(try sandbox.open(creating: false).path == container.path)
        #expect(try sandbox.open().path == container.path)
        #expect(try sandbox.registry.members().map(\.applicationIdentifier) == ["app"])
        #expect(sandbox.directories.count == 1)
    }

    @Test func theNextChangeWritesTheRegistryAgain() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.registry.setQuota(9000)
        sandbox.removeRegistry()
        try sandbox.register("extension")
        let entry = try #require(try sandbox.registry.entry())
        #expect(SystemFile.exists(sandbox.file))
        #expect(entry.members.map(\.applicationIdentifier) == ["app", "extension"])
        #expect(entry.quota == 9000 && container.path.hasSuffix(entry.directory ?? "?"))
    }

    @Test func afterTheLossTheLastMemberStillTakesTheContainerWithIt() throws {
        try sandbox.mark(try sandbox.register("app", .iOS))
        sandbox.removeRegistry()
        #expect(try sandbox.registry.unregister("app") != nil)
        #expect(sandbox.directories.isEmpty && sandbox.places().count == 1)
    }

    @Test func aContainerThatWasRenamedByHandIsStillTheGroups() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        sandbox.removeRegistry()
        let other = "\(sandbox.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("mv \(sandbox.shell(container.path)) \(sandbox.shell(other))")
        #expect(try sandbox.open().path == other)
    }

    @Test func twoContainersThatBothSayTheyAreTheGroupsAreAnError() throws {
        let container = try sandbox.register("app", .iOS)
        sandbox.removeRegistry()
        let other = "\(sandbox.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("cp -r \(sandbox.shell(container.path)) \(sandbox.shell(other))")
        #expect(code { _ = try sandbox.open() } == .ambiguousContainer)
        #expect(code { try sandbox.register() } == .ambiguousContainer)
        #expect(sandbox.directories.count == 2)
    }

    @Test func anOpaqueContainerBesideANamedOneIsAnError() throws {
        let container = try sandbox.register("app", .iOS)
        run("cp -r \(sandbox.shell(container.path)) \(sandbox.shell("\(sandbox.root)/Containers/\(sandbox.group)"))")
        #expect(code { _ = try sandbox.open() } == .ambiguousContainer)
        #expect(code { try sandbox.registry.unregister("app") } == .ambiguousContainer)
        #expect(sandbox.directories.count == 2)
    }

    /// Shell commands for damage by an editor or a failing disk.
    static let damages: [String] = [
        "", "garbage", "<?xml version=\"1.0\"?><plist version=\"1.0\"><array/></plist>",
        edited("version", "<integer>2</integer>"), edited("version", "<string>1</string>"),
        edited("group", "<string>group.com.example.other</string>"), edited("group", "<string>../../etc</string>"),
        edited("style", "<string>secret</string>"), edited("directory", "<string>../Vaults</string>"),
        edited("directory", "<string>group.com.example.other</string>"),
        edited("generation", "<integer>-1</integer>"), edited("members", "<dict/>"),
        edited("members", "<array><string>app</string></array>"), edited("quota", "<integer>-5</integer>"),
        edited("quota", "<real>1.5</real>"), edited("colour", "<string>red</string>"),
        edited("leaving", "<dict><key>directory</key><string>../x</string><key>trash</key><string>y</string></dict>"),
        edited("leaving", "<string>home</string>"),
    ]

    private static func edited(_ key: String, _ value: String) -> String {
        let whole = [
            ("version", "<integer>1</integer>"), ("group", "<string>group.com.example.yard</string>"),
            ("style", "<string>opaque</string>"), ("generation", "<integer>1</integer>"), ("members", "<array/>"),
        ]
        let fields = whole.filter { $0.0 != key } + [(key, value)]
        return "<plist version=\"1.0\"><dict>" + fields.map { "<key>\($0.0)</key>\($0.1)" }.joined() + "</dict></plist>"
    }

    @Test(arguments: damages)
    func aDamagedRegistryIsATypedErrorAndStaysAsItIs(text: String) throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        try SystemFile.write(sandbox.file, Array(text.utf8))

        #expect(code { _ = try sandbox.registry.members() } == .damagedRegistry)
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        #expect(code { _ = try sandbox.open(creating: false) } == .damagedRegistry)
        #expect(code { try sandbox.register() } == .damagedRegistry)
        #expect(code { try sandbox.registry.unregister("app") } == .damagedRegistry)
        #expect(code { try sandbox.registry.reset() } == .damagedRegistry)
        #expect(code { try sandbox.registry.setQuota(1) } == .damagedRegistry)

        #expect(try SystemFile.read(sandbox.file) == Array(text.utf8))
        #expect(sandbox.places() == ["Containers/\(sandbox.directories[0])"])
        // The command of the error's advice.
        run("mv \(sandbox.shell(sandbox.file)) \(sandbox.shell(sandbox.file + ".damaged"))")
        #expect(try sandbox.open().path == container.path)
    }

    @Test func aRegistryThatIsALinkOrADirectoryIsDamaged() throws {
        let container = try sandbox.register("app", .iOS)
        run("rm \(sandbox.shell(sandbox.file)) && ln -s /etc/hostname \(sandbox.shell(sandbox.file))")
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        run("rm \(sandbox.shell(sandbox.file)) && mkdir \(sandbox.shell(sandbox.file))")
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        run("rmdir \(sandbox.shell(sandbox.file)) && mkfifo \(sandbox.shell(sandbox.file))")
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        run("rm \(sandbox.shell(sandbox.file))")
        #expect(try sandbox.open().path == container.path)
    }

    @Test func anEditedRegistryGivesNoGroupAnotherGroupsContainer() throws {
        let victim = try AppGroup("group.com.example.victim")
        let theirs = try GroupRegistry(victim, in: sandbox.home).register(sandbox.member("bank"), behavior: .iOS)
        try sandbox.register("app", .iOS)
        let mine = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        let directory = try #require(try sandbox.registry.entry()?.directory)
        let name = String(theirs.path.split(separator: "/").last ?? "")
        try SystemFile.write(sandbox.file, Array(mine.replacing(directory, with: name).utf8))
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        #expect(code { try sandbox.registry.unregister("app") } == .damagedRegistry)
        #expect(SystemFile.exists(theirs.path))
    }

    @Test func aDamagedCopyInAnUnclaimedContainerPreventsNewContainers() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        sandbox.removeRegistry()
        try SystemFile.write("\(container.path)/.sealedstate.container", Array("x".utf8))
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        #expect(sandbox.directories.count == 1)
    }

    @Test func aDamagedCopyOfAnotherRegisteredGroupIsNotAnObstacle() throws {
        let other = try AppGroup("group.com.example.other")
        let theirs = try GroupRegistry(other, in: sandbox.home).register(sandbox.member("x"), behavior: .iOS)
        try SystemFile.write("\(theirs.path)/.sealedstate.container", Array("x".utf8))
        #expect(try sandbox.open().style == .named)
    }

    @Test func anOpaqueContainerThatIsAwayIsMissedAndNotMadeAgain() throws {
        let container = try sandbox.register("app", .iOS)
        try sandbox.mark(container)
        let away = "\(sandbox.root)/away"
        run("mv \(sandbox.shell(container.path)) \(sandbox.shell(away))")
        #expect(code { _ = try sandbox.open() } == .containerAway)
        #expect(code { _ = try sandbox.open(creating: false) } == .containerAway)
        #expect(code { try sandbox.registry.unregister("app") } == .containerAway)
        #expect(try sandbox.registry.members().count == 1)
        #expect(sandbox.directories.isEmpty)
        run("mv \(sandbox.shell(away)) \(sandbox.shell(container.path))")
        #expect(sandbox.hasMark(try sandbox.open()))
    }

    @Test func aContainerWhoseDiskIsNotMountedIsAway() throws {
        try sandbox.register("app", .iOS)
        let containers = "\(sandbox.root)/Containers"
        run(
            "mv \(sandbox.shell(containers)) \(sandbox.shell(containers + ".away")) && mkdir -m 700 \(sandbox.shell(containers))"
        )
        #expect(code { _ = try sandbox.open() } == .containerAway)
        run("rmdir \(sandbox.shell(containers))")
        #expect(code { _ = try sandbox.open() } == .containerAway)
        #expect(!SystemFile.exists(containers))
    }

    @Test func anotherGroupsContainerDoesNotLeaveForAnEditedRegistry() throws {
        let victim = try AppGroup("group.com.example.victim")
        let theirs = try GroupRegistry(victim, in: sandbox.home).register(sandbox.member("bank"), behavior: .iOS)
        try sandbox.register("app", .iOS)
        let name = String(theirs.path.split(separator: "/").last ?? "")
        let leaving =
            "<key>leaving</key><dict><key>directory</key><string>\(name)</string><key>trash</key>"
            + "<string>\(sandbox.group)~20260101T000000Z~00000000</string></dict></dict></plist>"
        let text = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        try SystemFile.write(sandbox.file, Array(text.replacing("</dict>\n</plist>", with: leaving).utf8))
        #expect(code { try sandbox.register("other") } == .damagedRegistry)
        #expect(SystemFile.exists(theirs.path) && sandbox.trashed.isEmpty)
    }

    @Test func aRegisteredContainerWithoutItsCopyIsRefusedUntilItIsPutThere() throws {
        let container = try sandbox.register("app", .iOS)
        let copy = "\(container.path)/.sealedstate.container"
        run("rm \(sandbox.shell(copy))")
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
        // The command of the error's advice.
        run("cp -p \(sandbox.shell(sandbox.file)) \(sandbox.shell(copy))")
        #expect(try sandbox.open().path == container.path)
    }

    @Test func withoutTheRegistryANamedDirectoryDoesNotWinOverAnOpaqueContainer() throws {
        try sandbox.mark(try sandbox.register("app", .iOS))
        sandbox.removeRegistry()
        run("mkdir -m 700 \(sandbox.shell("\(sandbox.root)/Containers/\(sandbox.group)"))")
        #expect(code { _ = try sandbox.open() } == .ambiguousContainer)
    }

    @Test func aGenerationBeyondReachIsDamageAndTheHighestOneStays() throws {
        try sandbox.register("app", .iOS)
        let text = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        func write(_ generation: Int64) throws {
            let number = "<integer>\(generation)</integer>"
            let key = try #require(text.firstRange(of: "<key>generation</key>"))
            let rest = text[key.upperBound...].replacing("<integer>1</integer>", with: number, maxReplacements: 1)
            try SystemFile.write(sandbox.file, Array((text[..<key.upperBound] + rest).utf8))
        }
        for generation in [Int64.max, (1 << 53) + 1] as [Int64] {
            try write(generation)
            #expect(code { try sandbox.registry.reset() } == .damagedRegistry)
        }
        try write(1 << 53)
        try sandbox.registry.reset()
        #expect(try sandbox.registry.entry()?.generation == 1 << 53)
    }

    @Test func aContainerUnderTheGroupsNameIsTheOneThatTheRegistryMisses() throws {
        let container = try sandbox.register()
        try sandbox.mark(container)
        let text = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        let directory = "\t<key>directory</key>\n\t<string>\(sandbox.group)</string>\n"
        #expect(text.contains(directory))
        try SystemFile.write(sandbox.file, Array(text.replacing(directory, with: "").utf8))
        #expect(sandbox.hasMark(try sandbox.open(creating: false)))
        try sandbox.register("extension")
        #expect(try sandbox.registry.entry()?.directory == sandbox.group.identifier)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aContainerThatCannotBeLookedAtIsNotTakenForNone() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let sandbox = try RegistrySandbox()
            let container = try sandbox.register("app", .iOS)
            sandbox.removeRegistry()
            run("chmod 000 \(sandbox.shell(container.path))")
            #expect(code { _ = try sandbox.open() } == .file)
            #expect(sandbox.directories.count == 1)
            run("chmod 700 \(sandbox.shell(container.path))")
            #expect(try sandbox.open().path == container.path)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aContainerThatCannotBeMovedStaysWithItsMembers() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let sandbox = try RegistrySandbox()
            let container = try sandbox.register("app", .iOS)
            run("mkdir -m 500 \(sandbox.shell("\(sandbox.root)/Trash"))")
            #expect(code { try sandbox.registry.unregister("app") } == .file)
            #expect(try sandbox.open().path == container.path)
            #expect(try sandbox.registry.members().count == 1)
            try sandbox.registry.setQuota(10)
            run("chmod 700 \(sandbox.shell("\(sandbox.root)/Trash"))")
            #expect(try sandbox.registry.unregister("app") != nil)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aNamedContainerNeedsNoRegistryInAHomeWhereNoneCanBeMade() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let sandbox = try RegistrySandbox()
            run("mkdir -p -m 700 \(sandbox.shell(sandbox.root))/Containers && chmod 500 \(sandbox.shell(sandbox.root))")
            #expect(try sandbox.open().style == .named)
            #expect(try sandbox.open(behavior: .iOS).style == .named)
            let other = try AppGroup("group.com.example.other")
            #expect(code { _ = try GroupContainer.open(other, in: sandbox.home, behavior: .iOS) } == .file)
            run("chmod 700 \(sandbox.shell(sandbox.root))")
        }
    }
}
