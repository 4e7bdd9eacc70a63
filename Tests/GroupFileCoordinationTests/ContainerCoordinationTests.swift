import AppGroups
import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of coordination within a container.
struct ContainerCoordinationTests {
    private let place: TemporaryDirectory
    private let container: GroupContainer

    init() throws {
        place = try TemporaryDirectory()
        container = try GroupContainer.open(AppGroup("group.com.example.app"), in: GroupsHome(root: place.path))
    }

    @Test func everyOpeningOfAContainerMeetsTheOthers() throws {
        let again = try GroupContainer.open(container.group, in: GroupsHome(root: place.path))
        let (first, second) = (try container.fileCoordinator(), try again.fileCoordinator())
        let path = container.path + "/Library/Caches/file"
        try first.coordinate(writingItemAt: path) { path in
            let error = #expect(throws: FileError.self) {
                try second.coordinate(readingItemAt: path, timeout: .zero) { _ in }
            }
            #expect(error?.code == .lockTimeout)
        }
        try second.coordinate(readingItemAt: path, timeout: .zero) { _ in }
    }

    @Test func theDomainIsAsPrivateAsTheContainer() throws {
        _ = try container.coordinationDomain()
        #expect(try SystemFile.mode(container.path + "/.coordination") == 0o700)
        try #require(chmod(container.path + "/.coordination", 0o770) == 0)
        let error = #expect(throws: AppGroupError.self) { _ = try container.fileCoordinator() }
        #expect(error?.code == .unsafeContainer)
    }
}
