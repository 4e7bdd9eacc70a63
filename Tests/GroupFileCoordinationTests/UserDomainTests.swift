import Glibc
import GroupFileCoordination
import SharedFiles
import TestSupport
import Testing

/// Tests of the default domain of one user's processes.
struct UserDomainTests {
    private let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        try place.directory("runtime")
        try place.file("file", "0")
    }

    //  test                    process
    //                          write
    //  remove the directory
    //                          write
    //  write: no
    @Test func aUsersDirectoryThatWasRemovedIsMadeAgain() throws {
        let environment = ["XDG_RUNTIME_DIR": place.path("runtime")]
        let child = try ChildProcess("sealed-probe", words("updating", 0) + ["2"], environment: environment)
        #expect(try child.readLine() == "held \(place.path("file"))")
        try #require(unlink(place.path("runtime/sealed-coordination/.lock")) == 0)
        try #require(rmdir(place.path("runtime/sealed-coordination")) == 0)
        try child.write("\n")
        #expect(try child.readLine() == "free")
        #expect(try child.readLine() == "held \(place.path("file"))")
        let other = try ChildProcess.run("sealed-probe", words("read", 0), environment: environment)
        #expect(other.outputText.hasPrefix("lockTimeout "))
    }

    //  A domain that was opened before must not let two write at once: one here, one in the new directory.
    @Test(arguments: [false, true]) func aDomainWhoseDirectoryIsAnotherNowIsRefused(_ isMadeAgain: Bool) throws {
        let old = try CoordinationDomain(path: place.path("domain"))
        let coordinator = FileCoordinator(domain: old)
        let path = place.path("file")
        try coordinator.coordinate(writingItemAt: path) { _ in }
        try #require(rename(place.path("domain"), place.path("elsewhere")) == 0)
        if isMadeAgain { _ = try CoordinationDomain(path: place.path("domain")) }
        let presenter = NotingPresenter(path)
        for coordinator in [coordinator, FileCoordinator(domain: old)] {
            let error = #expect(throws: FileError.self) { try coordinator.coordinate(writingItemAt: path) { _ in } }
            #expect(error?.code == .lockFileReplaced)
        }
        let error = #expect(throws: FileError.self) { try FileCoordinator.addFilePresenter(presenter, domain: old) }
        #expect(error?.code == .lockFileReplaced)
        let new = FileCoordinator(domain: try CoordinationDomain(path: place.path("domain")))
        try new.coordinate(writingItemAt: path) { _ in }
        try #require(rename(place.path("domain"), place.path("third")) == 0)
        try #require(rename(place.path("elsewhere"), place.path("domain")) == 0)
        try coordinator.coordinate(writingItemAt: path) { _ in }
    }

    private func words(_ access: String, _ milliseconds: Int) -> [String] {
        ["coordinate", "-", access, place.path("file"), "\(milliseconds)"]
    }

    @Test func processesOfOneUserMeetInItsRuntimeDirectory() throws {
        let environment = ["XDG_RUNTIME_DIR": place.path("runtime")]
        let holder = try ChildProcess("sealed-probe", words("updating", 0), environment: environment)
        #expect(try holder.readLine() == "held \(place.path("file"))")
        let other = try ChildProcess.run("sealed-probe", words("read", 0), environment: environment)
        #expect(other.outputText.hasPrefix("lockTimeout "))
        #expect(try SystemFile.mode(place.path("runtime/sealed-coordination")) == 0o700)
        #expect(try SystemFile.mode(place.path("runtime/sealed-coordination/.lock")) == 0o600)
    }

    @Test(arguments: ["relative", "/missing/directory", "open"])
    func aRuntimeDirectoryThatIsInvalidIsNotUsed(_ name: String) throws {
        try place.directory("open", mode: 0o755)
        let runtime = name == "open" ? place.path("open") : name
        let child = try ChildProcess("sealed-probe", words("read", 0), environment: ["XDG_RUNTIME_DIR": runtime])
        #expect(try child.readLine() == "held \(place.path("file"))")
        #expect(try SystemFile.names(place.path("open")) == [])
    }

    @Test(arguments: [0o770, 0o707] as [UInt32]) func aDirectoryThatOthersCanChangeIsRefused(_ mode: UInt32) throws {
        try place.directory("domain", mode: mode)
        let error = #expect(throws: FileError.self) { _ = try CoordinationDomain(path: place.path("domain")) }
        #expect(error?.code == .unsafeMode)
    }
}
