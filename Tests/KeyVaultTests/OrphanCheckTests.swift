import AppGroups
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

/// Tests that a key is created once.
@Suite struct OrphanCheckTests {
    @Test func sixteenProcessesGetOneKey() throws {
        // process 1..16: look (absent) ......... lock, look again, create or open
        // Each of them is released by one line, after all have reported that they are ready.
        let fixture = try VaultFixture()
        let children = try (0..<16).map { _ in
            try ChildProcess("sealed-probe", ["vault-key", fixture.directory.path, fixture.group.identifier])
        }
        for child in children { #expect(try child.readLine() == "ready") }
        for child in children { try child.write("go\n") }
        let answers = try children.map { child in
            let answer = try child.readLine()
            #expect(try child.finish().exitCode == 0)
            return answer
        }
        #expect(Set(answers).count == 1)
        #expect(answers.first == .some(try fixture.keyID()))
    }

    @Test func sixteenThreadsGetOneKey() throws {
        let fixture = try VaultFixture()
        let results = try concurrently(16) { _ in
            try Vault.openOrCreate(fixture.accessGroup, in: fixture.home).activeKey().id
        }
        #expect(Set(try results.map { try $0.get() }).count == 1)
    }

    @Test func noKeyIsCreatedWhileTheContainerHoldsBlobsOfTheGroup() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        try seal(into: fixture, "Library/Application Support/orphan.sealed", group: fixture.group.identifier)
        do throws(VaultError) {
            _ = try fixture.openOrCreate()
            Issue.record("a key was created")
        } catch {
            #expect(error.code == .orphanedBlobs)
            #expect(error.reason.contains("Library/Application Support/orphan.sealed"))
        }
        #expect(access(fixture.path, F_OK) != 0)
        #expect(access(fixture.keyFile, F_OK) != 0)
    }

    @Test func quarantineAndOtherGroupsBlobsDoNotCount() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        _ = try fixture.directory.directory("Containers/\(fixture.group)/Quarantine")
        try seal(into: fixture, "Quarantine/old.sealed", group: fixture.group.identifier)
        try seal(into: fixture, "Library/Caches/foreign.sealed", group: "group.com.example.foreign")
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test func filesInQuarantineBlockNoCreation() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        var deep = try fixture.directory.directory("Containers/\(fixture.group)/Quarantine")
        for _ in 0..<80 {
            deep += "/d"
            mkdir(deep, 0o700)
        }
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test func aQuarantineThatIsNotADirectoryDoesNotBlockPrograms() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        try seal(into: fixture, "Quarantine", group: fixture.group.identifier)
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test func tooDeepDirectoriesOutsideOfItStillCount() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        var deep = fixture.directory.path("Containers/\(fixture.group)")
        for _ in 0..<63 {
            deep += "/d"
            mkdir(deep, 0o700)
        }
        mkdir(deep + "/d", 0o700)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .file)
        rmdir(deep + "/d")
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test(arguments: ["", "Library/"]) func aDirectoryWithANonTextNameIsNotSkipped(parent: String) throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        let path = fixture.directory.path("Containers/\(fixture.group)/\(parent)x")
        mkdir(path, 0o700)
        try seal(into: fixture, "\(parent)x/hidden.sealed", group: fixture.group.identifier)
        rename(path, Array(path.utf8.dropLast()).map { CChar(bitPattern: $0) } + [CChar(bitPattern: 0xFF), 0])
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .file)
    }

    @Test func theReasonOfAFailedSearchIsReported() throws {
        let fixture = try VaultFixture()
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        let container = fixture.directory.path("Containers/\(fixture.group)")
        chmod(container, 0o777)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .unsafeFile)
        chmod(container, 0o700)
        rename(container, container + ".away")
        try SystemFile.write(container, [1])
        do throws(VaultError) {
            _ = try fixture.openOrCreate()
            Issue.record("a key was created")
        } catch {
            #expect(error.code == .file)
            #expect(error.underlying?.code == .notDirectory)
        }
    }

    @Test(arguments: [ContainerBehavior.iOS, .macOS])
    func noKeyIsCreatedWhileTheContainerIsAway(behavior: ContainerBehavior) throws {
        let fixture = try VaultFixture()
        let registry = GroupRegistry(fixture.group, in: fixture.home)
        let member = try GroupMember(applicationIdentifier: "app", executablePath: "/bin/sh")
        let container = try registry.register(member, behavior: behavior)
        #expect(rename(container.path, fixture.directory.path("away")) == 0)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate() } == .containerAway)
        #expect(access(fixture.path, F_OK) != 0)
        #expect(access(fixture.keyFile, F_OK) != 0)
        try registry.reset()
        #expect(throws: Never.self) { try fixture.openOrCreate() }
    }

    @Test func aKeyFileThatWasLeftBehindIsUsedAgain() throws {
        // A crash between the key file and the vault leaves only the key file.
        let fixture = try VaultFixture()
        try fixture.create()
        let key = try SystemFile.read(fixture.keyFile)
        unlink(fixture.path)
        try fixture.forgetPlaces()
        _ = try fixture.openOrCreate()
        #expect(try SystemFile.read(fixture.keyFile) == key)
    }

    @Test func aNamedKeyFileIsNeverMade() throws {
        let fixture = try VaultFixture()
        let path = fixture.directory.path("elsewhere.key")
        let credential = VaultCredential.keyFile(path: path)
        #expect(code { () throws(VaultError) in _ = try fixture.openOrCreate(with: credential) } == .file)
        #expect(access(path, F_OK) != 0)
        #expect(access(fixture.path, F_OK) != 0)
    }

    private func seal(into fixture: VaultFixture, _ relative: String, group: String) throws {
        let context = BlobContext(group: group, kind: .record, name: "orphan")
        let blob = BlobSealer.seal(
            UnsafeRawBufferPointer(start: nil, count: 0),
            as: BlobDescription(record: context, schemaVersion: 1, sequence: 1, sealedAt: 1),
            key: try .random(epoch: 1))
        try SystemFile.write(fixture.directory.path("Containers/\(fixture.group)/\(relative)"), blob)
    }
}
