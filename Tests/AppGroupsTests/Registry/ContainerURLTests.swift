import AppGroups
import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

/// Tests of Apple's documented behaviour of `containerURL(forSecurityApplicationGroupIdentifier:)`, for both systems.
@Suite struct ContainerURLTests {
    private let yard: RegistryYard

    init() throws { yard = try RegistryYard() }

    private func url(
        _ behavior: ContainerBehavior, of identifier: String? = nil, holding held: [String]? = nil
    ) throws -> URL? {
        let groups = try held.map { try $0.map { try AppGroup($0) } }
        return GroupContainer.url(
            forSecurityApplicationGroupIdentifier: identifier ?? yard.group.identifier, behavior: behavior,
            in: yard.home,
            entitlements: groups.map { .given(Entitlements(applicationGroups: $0)) } ?? .unchecked)
    }

    @Test func onMacOSTheDirectoryHasTheGroupsNameAndAllStandardDirectories() throws {
        let url = try #require(try url(.macOS))
        #expect(url.lastPathComponent == yard.group.identifier)
        #expect(try SystemFile.names(url.path + "/Library") == ["Application Support", "Caches", "Preferences"])
    }

    @Test func onIOSTheDirectorysNameSaysNothingAndOnlyCachesAreMade() throws {
        let url = try #require(try url(.iOS))
        #expect(!url.path.contains(yard.group.identifier))
        #expect(try SystemFile.names(url.path + "/Library") == ["Caches"])
        #expect(try self.url(.iOS) == url)
    }

    @Test func onIOSAGroupThatIsNotHeldIsNil() throws {
        #expect(try url(.iOS, holding: ["group.com.example.other"]) == nil)
        #expect(yard.directories.isEmpty)
    }

    @Test func onMacOSAGroupThatIsNotHeldIsAPathWithNothingThere() throws {
        let url = try #require(try url(.macOS, holding: []))
        #expect(url.path == "\(yard.root)/Containers/\(yard.group)")
        #expect(!SystemFile.exists(url.path))
    }

    @Test func aGroupThatIsNotHeldIsAPathOfTheSameFormThoughItsContainerIsOpaque() throws {
        try yard.register("app", .iOS)
        let url = try #require(try url(.macOS, holding: []))
        #expect(url.path == "\(yard.root)/Containers/\(yard.group)")
    }

    @Test func aGroupThatIsHeldIsGivenItsContainer() throws {
        #expect(try url(.iOS, holding: [yard.group.identifier]) != nil)
        #expect(yard.directories.count == 1)
    }

    @Test(arguments: [
        "", ".", "..", "../Vaults/x", "/etc", "com.example.app", "group.a b", "group.\u{0}x", "$(TEAM).x", "group.",
    ])
    func whatIsNoIdentifierIsNilOnIOSAndNamesNothingOnMacOS(identifier: String) throws {
        try yard.open()
        #expect(try url(.iOS, of: identifier) == nil)
        let url = try #require(try url(.macOS, of: identifier))
        let path = url.path(percentEncoded: false)
        #expect(path.hasPrefix("\(yard.root)/Containers/") && !path.contains("/../"))
        #expect(path.dropFirst("\(yard.root)/Containers/".count).split(separator: "/").count == 1)
        #expect(!SystemFile.exists(path))
        #expect(yard.directories == [yard.group.identifier])
    }

    @Test func theNameOfAnOpaqueContainerIsNoIdentifierThatLeadsToIt() throws {
        let container = try yard.register("app", .iOS)
        let name = try #require(yard.directories.first)
        let url = try #require(try url(.macOS, of: name))
        #expect(url.path(percentEncoded: false) != container.path)
        #expect(!SystemFile.exists(url.path(percentEncoded: false)))
    }

    @Test func aContainerThatIsNotSafeIsNilOnIOSAndItsPathOnMacOS() throws {
        let container = try yard.register("app", .iOS)
        run("chmod 777 \(yard.shell(container.path))")
        #expect(try url(.iOS) == nil)
        #expect(try url(.macOS)?.path == container.path)
        #expect(code { _ = try yard.open() } == .unsafeContainer)
    }

    @Test func onIOSAnIdentifierWithATeamIsNil() throws {
        #expect(try url(.iOS, of: "ABCDE12345.com.example.app") == nil)
        #expect(yard.directories.isEmpty)
        #expect(try url(.macOS, of: "ABCDE12345.com.example.app")?.lastPathComponent == "ABCDE12345.com.example.app")
    }

    @Test func onMacOSAGroupThatIsNotHeldHasThePathOfItsNamedContainer() throws {
        let container = try yard.open()
        #expect(try url(.macOS, holding: [])?.path == container.path)
    }
}
