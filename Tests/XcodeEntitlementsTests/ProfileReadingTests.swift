import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import XcodeEntitlements

@Suite struct ProfileReadingTests {
    let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    @Test func aFileIsReadByItsPath() throws {
        let profile = try ProvisioningProfile.read(path: ProfileFixture.path("development.mobileprovision"))
        #expect(profile.name == "Example Development")
    }

    @Test func aLinkToAProfileIsFollowed() throws {
        let path = folder.path("link.mobileprovision")
        try folder.link("link.mobileprovision", to: ProfileFixture.path("development.mobileprovision"))
        #expect(try ProvisioningProfile.read(path: path).name == "Example Development")
    }

    @Test func nothingThereIsAFaultOfTheFile() throws {
        let error = #expect(throws: ProvisioningError.self) {
            try ProvisioningProfile.read(path: folder.path("missing.mobileprovision"))
        }
        #expect(error?.code == .file)
        #expect(error?.errno == ENOENT)
    }

    @Test func aDirectoryIsNotAProfile() throws {
        let path = try folder.directory("profile.mobileprovision")
        #expect(provisioningFault { _ = try ProvisioningProfile.read(path: path) } == .file)
    }

    @Test func aFaultInAFileNamesTheFileAndThePart() throws {
        let path = ProfileFixture.path("version-2.mobileprovision")
        let error = #expect(throws: ProvisioningError.self) { try ProvisioningProfile.read(path: path) }
        #expect(error?.subject == "Version")
        #expect(error?.description.contains(path) == true)
    }

    /// Opening it would block for ever.
    @Test func aFIFOIsNotOpened() throws {
        let path = folder.path("profile.mobileprovision")
        try folder.fifo("profile.mobileprovision")
        #expect(provisioningFault { _ = try ProvisioningProfile.read(path: path) } == .file)
    }

    @Test func filesLargerThanAnyProfileAreNotRead() throws {
        let path = folder.path("large.mobileprovision")
        try SystemFile.write(path, [UInt8](repeating: 0x30, count: ProvisioningProfile.largest + 1))
        #expect(provisioningFault { _ = try ProvisioningProfile.read(path: path) } == .tooLarge)
    }
}
