import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import TestSupport
import Testing

@testable import SealedState

/// Tests of stores that stay open while the group's container is reset, moved, removed or replaced.
@Suite("Following the container", .timeLimit(.minutes(5))) struct ContainerFollowingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.write(Note(text: "before"))
    }

    private var registry: GroupRegistry { GroupRegistry(fixture.group, in: fixture.home) }

    private func moveAway() { #expect(rename(fixture.container, fixture.container + ".away") == 0) }

    // program:  reads ....... reads ........... reads, writes ... reads
    // others:         reset         remove ... make       rotate, rekey, lock, unlock
    @Test(.enabled(if: ProtectedSandbox.isAvailable)) func oneProgramGoesOnThroughAllOfIt() throws {
        let sandbox = try ProtectedSandbox()
        defer { sandbox.end() }
        let registry = GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home)
        try sandbox.person.write(Guarded(number: 1))
        try sandbox.unlock()
        let program = try sandbox.session(asPerson: false)
        func answer(_ line: String) throws -> String? { try program.ask("\(line) \(Guarded.recordName)") }
        #expect(try answer("read") == "1")

        #expect(try registry.reset() != nil)
        #expect(try answer("read") == "absent")
        #expect(try answer("write 2") == "written 2")
        #expect(try sandbox.person.read(Guarded.self).number == 2)

        try FileTree.remove(sandbox.fixture.container)
        #expect(try answer("read") == "containerMissing")
        #expect(try answer("write 3") == "containerMissing")
        _ = try GroupContainer.open(sandbox.fixture.group, in: sandbox.fixture.home)
        #expect(try answer("read") == "absent")
        try sandbox.person.write(Guarded(number: 4))
        #expect(try answer("read") == "4")

        #expect(try sandbox.person.rotate().isCompleted)
        #expect(try answer("read") == "4")
        _ = try sandbox.person.vault.rekey()
        #expect(try answer("read") == "4")
        try sandbox.lock()
        #expect(try answer("read") == "locked")
        try sandbox.unlock()
        #expect(try answer("read") == "4")
        #expect(try answer("write 5") == "written 4")
        #expect(try sandbox.person.read(Guarded.self).number == 5)
    }

    @Test func aContainerUnderAnotherUUIDIsFollowed() throws {
        let fixture = try StoreFixture("group.com.example.opaque")
        let registry = GroupRegistry(fixture.group, in: fixture.home)
        let member = try GroupMember(applicationIdentifier: "app", executablePath: "/usr/bin/app")
        try registry.register(member, behavior: .iOS)
        let store = try fixture.open()
        try store.write(Note(text: "before"))
        try registry.unregister("app")
        #expect(code { _ = try store.read(Note.self) } == .containerMissing)
        #expect(code { try store.write(Note(text: "lost")) } == .containerMissing)
        let path = try registry.register(member).path
        #expect(path != store.containerPath)
        #expect(code { _ = try store.read(Note.self) } == .absent)
        try store.write(Note(text: "after"))
        #expect(try fixture.open().read(Note.self).text == "after")
        #expect(try store.list().map(\.name) == [Note.recordName])
    }

    @Test func aContainerThatTookItsPlaceIsRead() throws {
        moveAway()
        let other = try fixture.open()
        #expect(code { _ = try store.read(Note.self) } == .absent)
        try other.write(Note(text: "in the other one"))
        #expect(try store.read(Note.self).text == "in the other one")
        #expect(try store.list().count == 1)
        #expect(try store.delete(named: Note.recordName) > 1)
        #expect(code { _ = try other.read(Note.self) } == .absent)
    }

    @Test func aListIsOfThePresentContainer() throws {
        #expect(try store.list().count == 1)
        moveAway()
        #expect(code { _ = try store.list() } == .containerMissing)
        _ = try fixture.open()
        #expect(try store.list().isEmpty)
    }

    /// A program that holds a record's lock in a container that was moved away blocks no writer of the present one.
    @Test func aLockInAGivenUpContainerIsNotWaitedFor() throws {
        let place = try store.places.place(Note.recordName)
        let held = try store.reader.locks.lock(place.lock, timeout: .zero)
        moveAway()
        let other = try fixture.open()
        #expect(try store.write(Note(text: "present"), timeout: .milliseconds(1)) == 2)
        #expect(try other.read(Note.self).text == "present")
        held.unlock()
    }

    @Test func aContainerThatComesBackIsFollowedBack() throws {
        moveAway()
        #expect(code { _ = try store.read(Note.self) } == .containerMissing)
        _ = try fixture.open()
        #expect(code { _ = try store.read(Note.self) } == .absent)
        try FileTree.remove(fixture.container)
        #expect(rename(fixture.container + ".away", fixture.container) == 0)
        #expect(try store.read(Note.self).text == "before")
        try store.write(Note(text: "after"))
        #expect(try fixture.open().read(Note.self).text == "after")
    }

    // here:  lock, change … the container is moved away, another one made …  write     | it is in the other one
    @Test func aWriteIntoAGivenUpContainerIsMadeAgain() throws {
        var calls = 0
        let sequence = try store.update(Note.self, startingWith: Note(text: "new")) { note in
            calls += 1
            note.number = calls
            guard calls == 1 else { return }
            moveAway()
            _ = try fixture.open()
        }
        #expect(calls == 2 && sequence == 2)
        #expect(try fixture.open().read(Note.self) == Note(text: "new", number: 2))
        #expect(try store.read(Note.self).number == 2)
    }

    @Test func aWriteThatLandedNowhereIsNotAcknowledged() throws {
        #expect(code { try store.update(Note.self) { _ in moveAway() } } == .containerMissing)
        #expect(rename(fixture.container + ".away", fixture.container) == 0)
        // The written blob was not accepted: the next write may have the same sequence.
        #expect(try store.write(Note(text: "again")) <= 3)
        #expect(try fixture.open().read(Note.self).text == "again")
    }

    @Test func leasesSettingsAndRotationsFollow() async throws {
        let defaults = try store.defaults()
        moveAway()
        let other = try fixture.open()
        let outcome = try await store.withLease("work", for: .seconds(30)) { fence in
            try await other.write(Note(text: "by the holder"), holding: fence)
            try await store.renewLease(fence, for: .seconds(30))
            return try await store.write(Note(text: "by the holder"), holding: fence)
        }
        #expect(outcome.value != nil)
        try await defaults.set(1, forKey: "key")
        #expect(try other.defaults().integer(forKey: "key") == 1)
        #expect(try store.rotate().isCompleted)
        #expect(try other.snapshot(of: Note.self).provenance.epoch == 2)
    }

    /// A lease of the former container is no right in the present one.
    @Test func aLeaseEndsWithItsContainer() async throws {
        let code = await asyncCode {
            _ = try await store.withLease("work", for: .seconds(30)) { fence in
                moveAway()
                _ = try fixture.open()
                try await store.write(Note(text: "late"), holding: fence)
            }
        }
        #expect(code == .leaseLost)
        #expect(self.code { _ = try store.read(Note.self) } == .absent)
    }

    /// Another user may hold the same number in another container.
    @Test func aFenceIsOfOneContainer() async throws {
        let code = await asyncCode {
            _ = try await store.withLease("work", for: .seconds(30)) { fence in
                try await store.write(Note(text: "in time"), holding: fence)
                let other = LeaseFence(lease: fence.lease, number: fence.number, container: fence.container + 1)
                try await store.write(Note(text: "by another"), holding: other)
            }
        }
        #expect(code == .leaseLost)
        #expect(try store.read(Note.self).text == "in time")
    }

    private func asyncCode(_ body: () async throws -> Void) async -> StoreError.Code? {
        do { try await body() } catch { return (error as? StoreError)?.code }
        return nil
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? { refusal(body)?.code }

    @Test func aHomeThatWasMovedAwayIsMissedSoon() throws {
        let home = fixture.place.path
        #expect(try store.read(Note.self).text == "before")
        #expect(rename(home, home + ".away") == 0)
        // The first reads may still come from the directory that is held open.
        while code({ _ = try store.read(Note.self) }) == nil { usleep(10_000) }
        #expect(code { _ = try store.read(Note.self) } == .containerMissing)
        #expect(rename(home + ".away", home) == 0)
        #expect(try store.read(Note.self).text == "before")
    }
}
