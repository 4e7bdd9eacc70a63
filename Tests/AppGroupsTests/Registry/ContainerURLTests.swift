import AppGroups
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// Tests of Apple's documented behaviour of `containerURL(forSecurityApplicationGroupIdentifier:)`, for both systems.
@Suite struct ContainerURLTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    private func url(
        _ behavior: ContainerBehavior, of identifier: String? = nil, holding held: [String]? = nil
    ) throws -> URL? {
        let groups = try held.map { try $0.map { try AppGroup($0) } }
        return GroupContainer.url(
            forSecurityApplicationGroupIdentifier: identifier ?? sandbox.group.identifier, behavior: behavior,
            in: sandbox.home,
            entitlements: groups.map { .given(Entitlements(applicationGroups: $0)) } ?? .unchecked)
    }

    @Test func onMacOSTheDirectoryHasTheGroupsNameAndAllStandardDirectories() throws {
        let url = try #require(try url(.macOS))
        #expect(url.lastPathComponent == sandbox.group.identifier)
        #expect(try SystemFile.names(url.path + "/Library") == ["Application Support", "Caches", "Preferences"])
    }

    @Test func onIOSTheDirectorysNameSaysNothingAndOnlyCachesAreMade() throws {
        let url = try #require(try url(.iOS))
        #expect(!url.path.contains(sandbox.group.identifier))
        #expect(try SystemFile.names(url.path + "/Library") == ["Caches"])
        #expect(try self.url(.iOS) == url)
    }

    @Test func onIOSAGroupThatIsNotHeldIsNil() throws {
        #expect(try url(.iOS, holding: ["group.com.example.other"]) == nil)
        #expect(sandbox.directories.isEmpty)
    }

    @Test func onMacOSAGroupThatIsNotHeldIsAPathWithNothingThere() throws {
        let url = try #require(try url(.macOS, holding: []))
        #expect(url.path == "\(sandbox.root)/Containers/\(sandbox.group)")
        #expect(!SystemFile.exists(url.path))
    }

    @Test func aGroupThatIsNotHeldIsAPathOfTheSameFormThoughItsContainerIsOpaque() throws {
        try sandbox.register("app", .iOS)
        let url = try #require(try url(.macOS, holding: []))
        #expect(url.path == "\(sandbox.root)/Containers/\(sandbox.group)")
    }

    @Test func aGroupThatIsHeldIsGivenItsContainer() throws {
        #expect(try url(.iOS, holding: [sandbox.group.identifier]) != nil)
        #expect(sandbox.directories.count == 1)
    }

    @Test(arguments: [
        "", ".", "..", "../Vaults/x", "/etc", "com.example.app", "group.a b", "group.\u{0}x", "$(TEAM).x", "group.",
    ])
    func whatIsNoIdentifierIsNilOnIOSAndNamesNothingOnMacOS(identifier: String) throws {
        try sandbox.open()
        #expect(try url(.iOS, of: identifier) == nil)
        let url = try #require(try url(.macOS, of: identifier))
        let path = url.path(percentEncoded: false)
        #expect(path.hasPrefix("\(sandbox.root)/Containers/") && !path.contains("/../"))
        #expect(path.dropFirst("\(sandbox.root)/Containers/".count).split(separator: "/").count == 1)
        #expect(!SystemFile.exists(path))
        #expect(sandbox.directories == [sandbox.group.identifier])
    }

    @Test func theNameOfAnOpaqueContainerIsNotAnIdentifierThatLeadsToIt() throws {
        let container = try sandbox.register("app", .iOS)
        let name = try #require(sandbox.directories.first)
        let url = try #require(try url(.macOS, of: name))
        #expect(url.path(percentEncoded: false) != container.path)
        #expect(!SystemFile.exists(url.path(percentEncoded: false)))
    }

    @Test func aContainerThatIsNotSafeIsNilOnIOSAndItsPathOnMacOS() throws {
        let container = try sandbox.register("app", .iOS)
        run("chmod 777 \(sandbox.shell(container.path))")
        #expect(try url(.iOS) == nil)
        #expect(try url(.macOS)?.path == container.path)
        #expect(code { _ = try sandbox.open() } == .unsafeContainer)
    }

    @Test func onIOSAnIdentifierWithATeamIsNil() throws {
        #expect(try url(.iOS, of: "ABCDE12345.com.example.app") == nil)
        #expect(sandbox.directories.isEmpty)
        #expect(try url(.macOS, of: "ABCDE12345.com.example.app")?.lastPathComponent == "ABCDE12345.com.example.app")
    }

    @Test func onMacOSAGroupThatIsNotHeldHasThePathOfItsNamedContainer() throws {
        let container = try sandbox.open()
        #expect(try url(.macOS, holding: [])?.path == container.path)
    }
}
