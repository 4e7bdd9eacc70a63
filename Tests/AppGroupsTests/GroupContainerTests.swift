import AppGroups
import Glibc
import SharedFiles
import SystemPackage
import Testing

@Suite struct GroupContainerTests {
    static let everyDirectory = [
        "", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences",
    ]

    let temporary: TemporaryHome
    let group: AppGroup

    init() throws {
        temporary = try TemporaryHome()
        group = try AppGroup("group.com.example.app")
    }

    private func open(creating: Bool = true) throws(AppGroupError) -> GroupContainer {
        try GroupContainer.open(group, in: temporary.home, creating: creating)
    }

    // MARK: Creation

    @Test(arguments: everyDirectory)
    func aNewContainerHasItsStandardDirectoriesForTheOwnerAlone(relative: String) throws {
        let container = try open()
        #expect(container.group == group)
        #expect(container.path == temporary.home.containersPath.appending(group.identifier).string)
        #expect(mode(of: temporary.path(group, relative)) == 0o700)
        #expect(isDirectory(temporary.path(group, relative)))
    }

    @Test func theDirectoriesAboveAContainerAreForTheOwnerAlone() throws {
        _ = try open()
        #expect(mode(of: temporary.home.containersPath.string) == 0o700)
        #expect(mode(of: temporary.home.containersPath.removingLastComponent().string) == 0o700)
    }

    @Test func openingAgainFindsTheSameContainerAndItsFiles() throws {
        let first = try open().root.attributes(".")
        #expect(run("touch \(temporary.path(group, "Library/Caches/kept").shellQuoted)") == 0)
        let second = try open(creating: false).root.attributes(".")
        #expect(second.isSameFile(as: first))
        #expect(status(of: temporary.path(group, "Library/Caches/kept")) != nil)
    }

    @Test func groupsHaveContainersOfTheirOwn() throws {
        let other = try GroupContainer.open(AppGroup("ABCDE12345.com.example.app"), in: temporary.home)
        #expect(try other.path != open().path)
    }

    @Test(arguments: ["Library", "Library/Application Support", "Library/Caches", "Library/Preferences"])
    func aPartlyCreatedContainerIsCompleted(relative: String) throws {
        _ = try open()
        #expect(run("rm -r \(temporary.path(group, relative).shellQuoted)") == 0)
        _ = try open()
        for directory in Self.everyDirectory { #expect(mode(of: temporary.path(group, directory)) == 0o700) }
    }

    @Test(arguments: GroupContainer.StandardDirectory.allCases)
    func aStandardDirectoryIsOpenedAtItsDocumentedPath(place: GroupContainer.StandardDirectory) throws {
        let container = try open()
        let expected = try container.root.attributes(place.relativePath)
        #expect(try container.directory(place).attributes(".").isSameFile(as: expected))
    }

    @Test(arguments: GroupContainer.StandardDirectory.allCases)
    func aStandardDirectoryThatWasRemovedIsMadeAgain(place: GroupContainer.StandardDirectory) throws {
        let container = try open()
        #expect(rmdir(temporary.path(group, place.relativePath)) == 0)
        _ = try container.directory(place)
        #expect(mode(of: temporary.path(group, place.relativePath)) == 0o700)
    }

    @Test func anOpenContainerStaysTheSameDirectoryWhenItsPathIsTaken() throws {
        let container = try open()
        let path = temporary.path(group)
        #expect(rename(path, path + ".moved") == 0)
        #expect(symlink("/etc", path) == 0)
        let caches = try container.directory(.caches).attributes(".")
        #expect(status(of: path + ".moved/Library/Caches").map { UInt64($0.st_ino) } == caches.inode)
    }

    // MARK: Without creation

    @Test func aMissingContainerIsReportedAndNothingIsMade() {
        let error = #expect(throws: AppGroupError.self) { try open(creating: false) }
        #expect(error?.code == .containerMissing)
        #expect(error?.errno == ENOENT)
        #expect(status(of: temporary.home.containersPath.removingLastComponent().string) == nil)
    }

    @Test func aMissingContainerBesideOthersIsReported() throws {
        _ = try GroupContainer.open(AppGroup("group.other"), in: temporary.home)
        let error = #expect(throws: AppGroupError.self) { try open(creating: false) }
        #expect(error?.code == .containerMissing)
        #expect(status(of: temporary.path(group)) == nil)
    }

    @Test(arguments: ["Library", "Library/Caches"])
    func withoutCreationMissingStandardDirectoriesStayMissing(relative: String) throws {
        _ = try open()
        #expect(run("rm -r \(temporary.path(group, relative).shellQuoted)") == 0)
        let container = try open(creating: false)
        let error = #expect(throws: AppGroupError.self) { try container.directory(.caches) }
        #expect(error?.code == .containerMissing)
        #expect(status(of: temporary.path(group, relative)) == nil)
    }
}
