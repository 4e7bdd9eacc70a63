import AppGroups
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import SealedState

/// Tests of the record that distinguishes a container from the group's former ones.
@Suite("Container certificates", .timeLimit(.minutes(5))) struct ContainerCertificateTests {
    let fixture: StoreFixture
    let store: SealedStore
    private let certificate = "_sealed/container"
    /// The highest sequence below the first certificate's container: three records were written before.
    private let first = Self.floor(after: 3)

    private static func floor(after highest: UInt64) -> UInt64 {
        ContainerCertificate.floor(of: ContainerCertificate.next(after: highest))
    }

    private let half = ContainerCertificate.margin / 2

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        for number in 1...3 { try store.write(Note(text: "former", number: number)) }
    }

    private var registry: GroupRegistry { GroupRegistry(fixture.group, in: fixture.home) }

    /// The program of a user that has accepted nothing yet, with the same keys.
    private func newcomer() throws -> SealedStore {
        try FileTree.remove(fixture.place.path("Watermarks"))
        return try fixture.open()
    }

    private func move(_ source: String, _ target: String) { #expect(rename(source, target) == 0) }

    private func moveAway(to suffix: String = ".former") { move(fixture.container, fixture.container + suffix) }

    /// Replaces the container as `sealctl container reset` does; a copy of the former one has its name
    /// with a suffix.
    private func replace(_ suffix: String = ".former", by program: SealedStore? = nil) throws {
        let program = program ?? store
        let successor = try program.makeSuccessor()
        #expect(successor.certificate != nil)
        _ = try ChildProcess.run("/bin/cp", ["-a", fixture.container, fixture.container + suffix])
        _ = try registry.reset(filling: successor.fill)
        try program.acceptCertificate()
    }

    /// Puts a former container back; the present one is moved away.
    private func putBack(_ suffix: String = ".former", keeping other: String = ".other") {
        moveAway(to: other)
        move(fixture.container + suffix, fixture.container)
    }

    private func pass(_ seconds: Double) { usleep(UInt32(seconds * 1_000_000)) }

    private func code(_ body: () throws -> Void) -> StoreError.Code? { refusal(body)?.code }

    @Test func aGroupWithOneContainerHasNone() throws {
        #expect(!SystemFile.exists(fixture.file(certificate)))
        #expect(try !store.certifyAgain(isFormer: true))
        #expect(!SystemFile.exists(fixture.file(certificate)))
        let empty = try StoreFixture("group.com.example.empty").open()
        #expect(try empty.certificateForSuccessor() == nil)
    }

    /// A user who has read more must not refuse the first record of a user who has read nothing.
    @Test func recordsContinueAfterThoseOfTheFormerContainer() throws {
        try replace()
        let reader = try fixture.open()
        #expect(code { _ = try reader.read(Note.self) } == .absent)
        let other = try newcomer()
        #expect(code { _ = try other.read(Note.self) } == .absent)
        #expect(try other.write(Note(text: "first")) == first + 1)
        #expect(try reader.read(Note.self).text == "first")
        #expect(try store.read(Note.self).text == "first")
        #expect(try other.write(Note(text: "another"), named: "another") == first + 1)
    }

    /// A member without keys has a copy of the former container, and removes the certificate if that helps.
    @Test(arguments: [(true, false), (true, true), (false, false)])
    func aFormerBlobIsRefused(isKnown: Bool, removesCertificate: Bool) throws {
        let former = try fixture.blob()
        try replace()
        try fixture.plant(former)
        if removesCertificate { unlink(fixture.file(certificate)) }
        let reader = isKnown ? try fixture.open() : try newcomer()
        let error = refusal { _ = try reader.read(Note.self) }
        #expect(error?.code == .replayed)
        #expect(error?.reason == "It is 1.3, of a former container of the group.")
        #expect(try reader.list().map { $0.rejection?.code } == [.replayed])
        #expect(try reader.examine(Note.recordName) { _, _ in }.error?.code == .replayed)
        #expect(try reader.write(Note(text: "over it")) == (removesCertificate ? first + half : first) + 1)
        #expect(try reader.read(Note.self).text == "over it")
    }

    /// The member hid a record from the program that made the certificate.
    @Test func aHiddenRecordIsRefusedLater() throws {
        for number in 1...20 { try store.write(Note(text: "hidden", number: number), named: "hidden") }
        let hidden = try fixture.blob("hidden")
        unlink(fixture.file("hidden"))
        try replace(by: try newcomer())
        try fixture.plant(hidden, "hidden")
        #expect(code { _ = try newcomer().read(Note.self, named: "hidden") } == .replayed)
    }

    /// In a container that a person may still accept, a completed rotation would end the records' epoch.
    @Test func aRotationWaitsForTheRecordsOfAFormerContainer() throws {
        try replace()
        putBack()
        #expect(try !store.rotate().isCompleted)
        #expect(try store.certifyAgain(isFormer: true))
        #expect(try store.rotate().isCompleted)
        #expect(try newcomer().read(Note.self).text == "former")
    }

    @Test func aRotationLeavesAFormerBlob() throws {
        let former = try fixture.blob()
        try replace()
        try fixture.plant(former)
        #expect(try store.rotate().isCompleted)
        #expect(code { _ = try store.read(Note.self) } == .retiredEpoch)
        #expect(try newcomer().write(Note(text: "new"), named: "new") == first + 1)
    }

    @Test func aFormerRecordIsNotMissing() throws {
        try store.write(Note(text: "settled"), named: "other")
        try replace()
        #expect(refusal { _ = try store.read(Note.self) }?.reason == "No record of that name was written.")
        #expect(code { try store.delete(named: "other") } == .absent)
        #expect(try fixture.open().acceptedNames.count == 1)
        try store.write(Note(text: "present"))
        unlink(fixture.file(Note.recordName))
        #expect(refusal { _ = try store.read(Note.self) }?.reason.contains("is missing") == true)
    }

    @Test func theRecordsOfAFormerContainerThatIsPutBackAreRefused() throws {
        try replace()
        try store.write(Note(text: "present"))
        putBack()
        for program in [store, try fixture.open()] {
            #expect(code { _ = try program.read(Note.self) } == .replayed)
        }
        // It is the present container by now; its records stay clear of those of the other one.
        #expect(try store.write(Note(text: "there")) == first + half + 1)
        #expect(try fixture.open().read(Note.self).text == "there")
    }

    /// The second certificate is no lower for a program that has read nothing.
    @Test func aSecondReplacementGoesOnFromTheFirst() throws {
        try replace()
        try replace(".second", by: try newcomer())
        let other = try newcomer()
        #expect(try other.write(Note(text: "third")) == Self.floor(after: first) + 1)
        #expect(try store.read(Note.self).text == "third")
        let former = "/Library/Application Support/Records/\(Note.recordName).sealed"
        try fixture.plant(try SystemFile.read(fixture.container + ".former" + former))
        #expect(code { _ = try newcomer().read(Note.self) } == .replayed)
    }

    @Test func aFormerContainerIsAcceptedOnPurpose() throws {
        try store.write(Note(text: "kept"), named: "kept")
        try replace()
        try store.write(Note(text: "interim"))
        try store.write(Note(text: "interim"), named: "planted")
        let interim = try fixture.blob("planted")
        putBack()
        #expect(code { _ = try store.read(Note.self, named: "kept") } == .replayed)
        #expect(try store.certifyAgain(isFormer: true))
        #expect(try !store.certifyAgain(isFormer: true))
        #expect(try store.read(Note.self, named: "kept").text == "kept")
        #expect(try fixture.open().read(Note.self, named: "kept").text == "kept")
        #expect(try newcomer().read(Note.self, named: "kept").text == "kept")
        // It was written again in the meantime.
        let second = Self.floor(after: first + half)
        #expect(code { _ = try store.read(Note.self) } == .replayed)
        #expect(try store.write(Note(text: "again")) == second + 1)
        #expect(try fixture.open().read(Note.self).text == "again")
        // The interim container is a former one now.
        try fixture.plant(interim, "planted")
        #expect(code { _ = try store.read(Note.self, named: "planted") } == .replayed)
        #expect(code { _ = try newcomer().read(Note.self, named: "planted") } == .replayed)
        putBack(".other", keeping: ".third")
        #expect(code { _ = try fixture.open().read(Note.self, named: "planted") } == .replayed)
    }

    @Test func recordsThatWereWrittenAfterItWasPutBackStay() throws {
        try replace()
        putBack()
        let running = try fixture.open()
        #expect(try running.write(Note(text: "early"), named: "early") == first + half + 1)
        #expect(try store.certifyAgain(isFormer: true))
        // A program that has just looked at the former certificate writes nothing that is refused.
        #expect(try running.write(Note(text: "late"), named: "early") == Self.floor(after: first + half + 1) + 1)
        #expect(try store.read(Note.self).text == "former")
        #expect(try newcomer().read(Note.self, named: "early").text == "late")
    }

    /// An empty container is certified by its first writer, if its user knows that the group had a certificate.
    @Test func aContainerThatWasMadeAgainIsCertifiedByItsFirstWriter() throws {
        let former = try fixture.blob()
        try replace()
        try store.write(Note(text: "present"))
        try FileTree.remove(fixture.container)
        _ = try GroupContainer.open(fixture.group, in: fixture.home)
        #expect(code { _ = try store.read(Note.self) } == .absent)
        let second = Self.floor(after: first + half)
        #expect(try store.write(Note(text: "new"), named: "other") == second + 1)
        #expect(SystemFile.exists(fixture.file(certificate)))
        try fixture.plant(former)
        #expect(code { _ = try store.read(Note.self) } == .replayed)
        #expect(try newcomer().write(Note(text: "new"), named: "third") == second + 1)
    }

    @Test func aDamagedCertificateChangesNothingForThoseWhoKnowIt() throws {
        try replace()
        try store.write(Note(text: "present"))
        let bytes = try fixture.blob(certificate)
        for damage in [nil, Array(bytes.dropLast()), bytes.map { $0 ^ 1 }] {
            unlink(fixture.file(certificate))
            if let damage { try SystemFile.write(fixture.file(certificate), damage) }
            let program = try fixture.open()
            #expect(try program.read(Note.self).text == "present")
            #expect(try program.write(Note(text: "present")) > first)
            #expect(try program.write(Note(text: "new"), named: "new") > first)
        }
        #expect(try store.rotate().isCompleted)
        // Written again any number of times: nothing changes for the records.
        for _ in 0..<3 {
            unlink(fixture.file(certificate))
            #expect(try fixture.open().certifyAgain(isFormer: false))
            #expect(try fixture.open().read(Note.self).text == "present")
            #expect(try !fixture.open().certifyAgain(isFormer: false))
        }
        #expect(try newcomer().read(Note.self).text == "present")
    }

    /// A tool that only examines accepts no certificate, and judges by it nevertheless.
    @Test func anExaminationAcceptsNothing() throws {
        let former = try fixture.blob()
        _ = try registry.reset(filling: try store.makeSuccessor().fill)
        try fixture.plant(former)
        let tool = try newcomer()
        #expect(try tool.list().map { $0.rejection?.code } == [.replayed])
        #expect(tool.acceptedNames.isEmpty)
        unlink(fixture.file(certificate))
        pass(1.1)
        #expect(try tool.list().map { $0.rejection?.code } == [nil])
    }

    /// A program that looked for a certificate before it was written finds it.
    @Test func aLateCertificateIsNoticed() throws {
        let former = try fixture.blob()
        let (path, blob) = try #require(try store.certificateForSuccessor())
        _ = try registry.reset()
        let other = try newcomer()
        #expect(code { _ = try other.read(Note.self) } == .absent)
        mkdir(fixture.records, 0o700)
        mkdir(fixture.records + "/_sealed", 0o700)
        try SystemFile.write(fixture.container + "/" + path, blob)
        chmod(fixture.container + "/" + path, 0o600)
        #expect(try other.write(Note(text: "new"), named: "new") == first + 1)
        try fixture.plant(former)
        pass(1.1)
        #expect(code { _ = try other.read(Note.self) } == .replayed)
    }

    @Test func leasesAndSettingsGoOnInTheNewContainer() async throws {
        try await store.defaults().set(1, forKey: "key")
        let outcome = try await store.withLease("work", for: .seconds(30)) { $0.number }
        #expect(outcome.value == 1)
        let path = "/Library/Preferences/\(fixture.group).sealed"
        let settings = try SystemFile.read(fixture.container + path)
        try replace()
        let other = try newcomer()
        let fence = try await other.withLease("work", for: .seconds(30)) { fence in
            try await other.write(Note(text: "held"), holding: fence)
            return fence.number
        }
        #expect(fence.value ?? 0 > first)
        #expect(try other.defaults().integer(forKey: "key") == 0)
        try await other.defaults().set(2, forKey: "key")
        try SystemFile.write(fixture.container + path, settings)
        #expect(code { _ = try other.defaults().integer(forKey: "key") } == .replayed)
    }

    /// Settings in memory are not taken for those of the present container after the former one was moved back.
    @Test func settingsInMemoryAreNotThoseOfAFormerContainer() async throws {
        let defaults = try store.defaults()
        try await defaults.set(1, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 1)
        try replace()
        putBack()
        #expect(code { _ = try defaults.integer(forKey: "key") } == .replayed)
    }
}
