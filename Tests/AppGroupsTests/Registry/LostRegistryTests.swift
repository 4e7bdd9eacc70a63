import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of a registry that is lost, damaged or edited: no fresh container beside a full one, and no file is
/// overwritten.
@Suite struct LostRegistryTests {
    private let yard: RegistryYard

    init() throws { yard = try RegistryYard() }

    @Test func withoutARegistryTheContainerIsFoundByItsOwnCopy() throws {
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        try yard.registry.setQuota(9000)
        yard.removeRegistry()

        #expect(try yard.open(creating: false).path == container.path)
        #expect(try yard.open().path == container.path)
        #expect(try yard.registry.members().map(\.applicationIdentifier) == ["app"])
        #expect(yard.directories.count == 1)
    }

    @Test func theNextChangeWritesTheRegistryAnew() throws {
        let container = try yard.register("app", .iOS)
        try yard.registry.setQuota(9000)
        yard.removeRegistry()
        try yard.register("extension")
        let entry = try #require(try yard.registry.entry())
        #expect(SystemFile.exists(yard.file))
        #expect(entry.members.map(\.applicationIdentifier) == ["app", "extension"])
        #expect(entry.quota == 9000 && container.path.hasSuffix(entry.directory ?? "?"))
    }

    @Test func afterTheLossTheLastMemberStillTakesTheContainerWithIt() throws {
        try yard.mark(try yard.register("app", .iOS))
        yard.removeRegistry()
        #expect(try yard.registry.unregister("app") != nil)
        #expect(yard.directories.isEmpty && yard.places().count == 1)
    }

    @Test func aContainerThatWasRenamedByHandIsStillTheGroups() throws {
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        yard.removeRegistry()
        let other = "\(yard.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("mv \(yard.shell(container.path)) \(yard.shell(other))")
        #expect(try yard.open().path == other)
    }

    @Test func twoContainersThatBothSayTheyAreTheGroupsAreAnError() throws {
        let container = try yard.register("app", .iOS)
        yard.removeRegistry()
        let other = "\(yard.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("cp -r \(yard.shell(container.path)) \(yard.shell(other))")
        #expect(code { _ = try yard.open() } == .ambiguousContainer)
        #expect(code { try yard.register() } == .ambiguousContainer)
        #expect(yard.directories.count == 2)
    }

    @Test func anOpaqueContainerBesideANamedOneIsAnError() throws {
        let container = try yard.register("app", .iOS)
        run("cp -r \(yard.shell(container.path)) \(yard.shell("\(yard.root)/Containers/\(yard.group)"))")
        #expect(code { _ = try yard.open() } == .ambiguousContainer)
        #expect(code { try yard.registry.unregister("app") } == .ambiguousContainer)
        #expect(yard.directories.count == 2)
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
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        try SystemFile.write(yard.file, Array(text.utf8))

        #expect(code { _ = try yard.registry.members() } == .damagedRegistry)
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        #expect(code { _ = try yard.open(creating: false) } == .damagedRegistry)
        #expect(code { try yard.register() } == .damagedRegistry)
        #expect(code { try yard.registry.unregister("app") } == .damagedRegistry)
        #expect(code { try yard.registry.reset() } == .damagedRegistry)
        #expect(code { try yard.registry.setQuota(1) } == .damagedRegistry)

        #expect(try SystemFile.read(yard.file) == Array(text.utf8))
        #expect(yard.places() == ["Containers/\(yard.directories[0])"])
        // The command of the error's advice.
        run("mv \(yard.shell(yard.file)) \(yard.shell(yard.file + ".damaged"))")
        #expect(try yard.open().path == container.path)
    }

    @Test func aRegistryThatIsALinkOrADirectoryIsDamaged() throws {
        let container = try yard.register("app", .iOS)
        run("rm \(yard.shell(yard.file)) && ln -s /etc/hostname \(yard.shell(yard.file))")
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        run("rm \(yard.shell(yard.file)) && mkdir \(yard.shell(yard.file))")
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        run("rmdir \(yard.shell(yard.file)) && mkfifo \(yard.shell(yard.file))")
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        run("rm \(yard.shell(yard.file))")
        #expect(try yard.open().path == container.path)
    }

    @Test func anEditedRegistryGivesNobodyAnotherGroupsContainer() throws {
        let victim = try AppGroup("group.com.example.victim")
        let theirs = try GroupRegistry(victim, in: yard.home).register(yard.member("bank"), behavior: .iOS)
        try yard.register("app", .iOS)
        let mine = String(decoding: try SystemFile.read(yard.file), as: UTF8.self)
        let directory = try #require(try yard.registry.entry()?.directory)
        let name = String(theirs.path.split(separator: "/").last ?? "")
        try SystemFile.write(yard.file, Array(mine.replacing(directory, with: name).utf8))
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        #expect(code { try yard.registry.unregister("app") } == .damagedRegistry)
        #expect(SystemFile.exists(theirs.path))
    }

    @Test func aDamagedCopyInAContainerOfNobodyKeepsNewContainersFromBeingMade() throws {
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        yard.removeRegistry()
        try SystemFile.write("\(container.path)/.sealedstate.container", Array("x".utf8))
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        #expect(yard.directories.count == 1)
    }

    @Test func aDamagedCopyOfAnotherRegisteredGroupIsNoObstacle() throws {
        let other = try AppGroup("group.com.example.other")
        let theirs = try GroupRegistry(other, in: yard.home).register(yard.member("x"), behavior: .iOS)
        try SystemFile.write("\(theirs.path)/.sealedstate.container", Array("x".utf8))
        #expect(try yard.open().style == .named)
    }

    @Test func anOpaqueContainerThatIsAwayIsMissedAndNotMadeAnew() throws {
        let container = try yard.register("app", .iOS)
        try yard.mark(container)
        let away = "\(yard.root)/away"
        run("mv \(yard.shell(container.path)) \(yard.shell(away))")
        #expect(code { _ = try yard.open() } == .containerAway)
        #expect(code { _ = try yard.open(creating: false) } == .containerAway)
        #expect(code { try yard.registry.unregister("app") } == .containerAway)
        #expect(try yard.registry.members().count == 1)
        #expect(yard.directories.isEmpty)
        run("mv \(yard.shell(away)) \(yard.shell(container.path))")
        #expect(yard.hasMark(try yard.open()))
    }

    @Test func soIsOneWhoseDiskIsNotMounted() throws {
        try yard.register("app", .iOS)
        let containers = "\(yard.root)/Containers"
        run(
            "mv \(yard.shell(containers)) \(yard.shell(containers + ".away")) && mkdir -m 700 \(yard.shell(containers))"
        )
        #expect(code { _ = try yard.open() } == .containerAway)
        run("rmdir \(yard.shell(containers))")
        #expect(code { _ = try yard.open() } == .containerAway)
        #expect(!SystemFile.exists(containers))
    }

    @Test func anotherGroupsContainerDoesNotLeaveForAnEditedRegistry() throws {
        let victim = try AppGroup("group.com.example.victim")
        let theirs = try GroupRegistry(victim, in: yard.home).register(yard.member("bank"), behavior: .iOS)
        try yard.register("app", .iOS)
        let name = String(theirs.path.split(separator: "/").last ?? "")
        let leaving =
            "<key>leaving</key><dict><key>directory</key><string>\(name)</string><key>trash</key>"
            + "<string>\(yard.group)~20260101T000000Z~00000000</string></dict></dict></plist>"
        let text = String(decoding: try SystemFile.read(yard.file), as: UTF8.self)
        try SystemFile.write(yard.file, Array(text.replacing("</dict>\n</plist>", with: leaving).utf8))
        #expect(code { try yard.register("other") } == .damagedRegistry)
        #expect(SystemFile.exists(theirs.path) && yard.trashed.isEmpty)
    }

    @Test func aRegisteredContainerWithoutItsCopyIsRefusedUntilItIsPutThere() throws {
        let container = try yard.register("app", .iOS)
        let copy = "\(container.path)/.sealedstate.container"
        run("rm \(yard.shell(copy))")
        #expect(code { _ = try yard.open() } == .damagedRegistry)
        // The command of the error's advice.
        run("cp -p \(yard.shell(yard.file)) \(yard.shell(copy))")
        #expect(try yard.open().path == container.path)
    }

    @Test func withoutTheRegistryANamedDirectoryDoesNotWinOverAnOpaqueContainer() throws {
        try yard.mark(try yard.register("app", .iOS))
        yard.removeRegistry()
        run("mkdir -m 700 \(yard.shell("\(yard.root)/Containers/\(yard.group)"))")
        #expect(code { _ = try yard.open() } == .ambiguousContainer)
    }

    @Test func aGenerationBeyondReachIsDamageAndTheHighestOneStays() throws {
        try yard.register("app", .iOS)
        let text = String(decoding: try SystemFile.read(yard.file), as: UTF8.self)
        func write(_ generation: Int64) throws {
            let number = "<integer>\(generation)</integer>"
            let key = try #require(text.firstRange(of: "<key>generation</key>"))
            let rest = text[key.upperBound...].replacing("<integer>1</integer>", with: number, maxReplacements: 1)
            try SystemFile.write(yard.file, Array((text[..<key.upperBound] + rest).utf8))
        }
        for generation in [Int64.max, (1 << 53) + 1] as [Int64] {
            try write(generation)
            #expect(code { try yard.registry.reset() } == .damagedRegistry)
        }
        try write(1 << 53)
        try yard.registry.reset()
        #expect(try yard.registry.entry()?.generation == 1 << 53)
    }

    @Test func aContainerUnderTheGroupsNameIsTheOneThatTheRegistryMisses() throws {
        let container = try yard.register()
        try yard.mark(container)
        let text = String(decoding: try SystemFile.read(yard.file), as: UTF8.self)
        let directory = "\t<key>directory</key>\n\t<string>\(yard.group)</string>\n"
        #expect(text.contains(directory))
        try SystemFile.write(yard.file, Array(text.replacing(directory, with: "").utf8))
        #expect(yard.hasMark(try yard.open(creating: false)))
        try yard.register("extension")
        #expect(try yard.registry.entry()?.directory == yard.group.identifier)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aContainerThatCannotBeLookedAtIsNotTakenForNone() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let yard = try RegistryYard()
            let container = try yard.register("app", .iOS)
            yard.removeRegistry()
            run("chmod 000 \(yard.shell(container.path))")
            #expect(code { _ = try yard.open() } == .file)
            #expect(yard.directories.count == 1)
            run("chmod 700 \(yard.shell(container.path))")
            #expect(try yard.open().path == container.path)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aContainerThatCannotBeMovedStaysWithItsMembers() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let yard = try RegistryYard()
            let container = try yard.register("app", .iOS)
            run("mkdir -m 500 \(yard.shell("\(yard.root)/Trash"))")
            #expect(code { try yard.registry.unregister("app") } == .file)
            #expect(try yard.open().path == container.path)
            #expect(try yard.registry.members().count == 1)
            try yard.registry.setQuota(10)
            run("chmod 700 \(yard.shell("\(yard.root)/Trash"))")
            #expect(try yard.registry.unregister("app") != nil)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
    func aNamedContainerNeedsNoRegistryInAHomeWhereNoneCanBeMade() async throws {
        await #expect(processExitsWith: .success) {
            try #require(setgid(65534) == 0 && setuid(65534) == 0)
            let yard = try RegistryYard()
            run("mkdir -p -m 700 \(yard.shell(yard.root))/Containers && chmod 500 \(yard.shell(yard.root))")
            #expect(try yard.open().style == .named)
            #expect(try yard.open(behavior: .iOS).style == .named)
            let other = try AppGroup("group.com.example.other")
            #expect(code { _ = try GroupContainer.open(other, in: yard.home, behavior: .iOS) } == .file)
            run("chmod 700 \(yard.shell(yard.root))")
        }
    }
}
