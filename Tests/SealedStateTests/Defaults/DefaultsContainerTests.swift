import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of a suite's file at the group's container, wherever that is, and under the library's other operations.
@Suite("SealedDefaults in a container", .timeLimit(.minutes(10))) struct DefaultsContainerTests {
    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws {
        sandbox = try DefaultsSandbox()
        try sandbox.defaults.set(1, forKey: "key")
        #expect(try sandbox.defaults.integer(forKey: "key") == 1)
    }

    @Test func aContainerThatWasMovedAwayIsMissedAndNotReadOn() throws {
        #expect(rename(sandbox.fixture.container, sandbox.fixture.container + ".away") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .containerMissing)
        #expect(code { try defaults.set(2, forKey: "key") } == .containerMissing)
        #expect(rename(sandbox.fixture.container + ".away", sandbox.fixture.container) == 0)
        #expect(try defaults.integer(forKey: "key") == 1)
    }

    @Test func aContainerThatTookItsPlaceIsFollowed() throws {
        #expect(rename(sandbox.fixture.container, sandbox.fixture.container + ".away") == 0)
        let successor = try sandbox.fixture.open().defaults()
        // The suite was not deleted: its missing file is reported here as well.
        #expect(code { _ = try successor.integer(forKey: "key") } == .absent)
        try successor.set(7, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 7)
        try defaults.set(8, forKey: "key")
        #expect(try successor.integer(forKey: "key") == 8)
    }

    // here:  lock, look … the container is moved away, another one made …  write     | it is in the other one
    @Test func aChangeThatLandedInAGivenUpContainerIsMadeAgain() throws {
        var calls = 0
        try defaults.edit { values in
            calls += 1
            values["key"] = .integer(2)
            guard calls == 1 else { return }
            #expect(rename(sandbox.fixture.container, sandbox.fixture.container + ".away") == 0)
            _ = try sandbox.fixture.open()
        }
        #expect(calls == 2)
        #expect(try defaults.integer(forKey: "key") == 2)
        #expect(try sandbox.other().ask("get key") == "2")
    }

    @Test func aChangeThatLandedNowhereIsNotAcknowledged() throws {
        let code = code {
            try defaults.edit { values in
                values["key"] = .integer(2)
                rename(sandbox.fixture.container, sandbox.fixture.container + ".away")
            }
        }
        #expect(code == .containerMissing)
    }

    @Test func aHomeThatWasMovedAwayIsMissedSoon() throws {
        let home = sandbox.fixture.place.path
        #expect(rename(home, home + ".away") == 0)
        defer { rename(home + ".away", home) }
        // The first reads may still come from the directory that is held open.
        while code({ _ = try defaults.integer(forKey: "key") }) == nil { usleep(10_000) }
        #expect(code { _ = try defaults.integer(forKey: "key") } == .containerMissing)
    }

    @Test func aSuiteReportsItsSequenceWithoutBeingOpened() throws {
        let other = try sandbox.store.defaults(suite: "other")
        #expect(try other.fileState() == .unknown && defaults.fileState() == .present)
        try sandbox.damage(sandbox.file)
        #expect(try defaults.fileState() == .present)
        unlink(sandbox.file)
        #expect(try defaults.fileState() == .missing)
        try defaults.removePersistentDomain()
        #expect(try defaults.fileState() == .removed && defaults.persistentDomain().isEmpty)
    }

    @Test func thePreferencesDirectoryMayBeReplaced() throws {
        #expect(rename(sandbox.preferences, sandbox.preferences + ".away") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .absent)
        try defaults.set(2, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 2)
    }

    @Test func aSuiteIsListedAsTheLibrarysOwn() throws {
        try sandbox.store.write(Note(text: "x"))
        #expect(try sandbox.store.list().map(\.name) == ["note"])
        let reserved = "_sealed/defaults/\(defaults.suite)"
        #expect(try sandbox.store.list(includingReserved: true).map(\.name) == [reserved, "note"])
        #expect(sandbox.store.acceptedNames.count == 2)
    }

    @Test func aSuiteIsExaminedLikeARecord() throws {
        let reserved = "_sealed/defaults/\(defaults.suite)"
        try defaults.set([UInt8](repeating: 0, count: 1_000_000), forKey: "a")
        try defaults.set([UInt8](repeating: 0, count: 1_000_000), forKey: "b")
        var codec: PayloadCodec?
        let sound = try sandbox.store.examine(reserved) { codec = $1 }
        #expect(sound.error == nil && codec == .binaryPropertyList)
        try sandbox.damage(sandbox.file)
        let damaged = try sandbox.store.examine(reserved) { _, _ in }
        #expect(damaged.error?.code == .tampered)
    }

    @Test func otherFilesInPreferencesAreNotSuites() throws {
        try SystemFile.write("\(sandbox.preferences)/plain.plist", [1])
        try SystemFile.write("\(sandbox.preferences)/with space.sealed", [1])
        mkdir("\(sandbox.preferences)/ByHost", 0o700)
        try SystemFile.write("\(sandbox.preferences)/ByHost/x.sealed", [1])
        #expect(try sandbox.store.defaultsSuites() == [defaults.suite])
    }

    @Test func aFileUnderASuitesNameAmongTheRecordsIsNotRead() throws {
        let wrong = "\(sandbox.fixture.records)/_sealed/defaults"
        _ = try sandbox.store.write(Note(text: "x"))
        mkdir("\(sandbox.fixture.records)/_sealed", 0o700)
        mkdir(wrong, 0o700)
        #expect(rename(sandbox.file, "\(wrong)/\(defaults.suite).sealed") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .absent)
        #expect(try sandbox.store.defaultsSuites().isEmpty)
    }

    @Test func rotationResealsSuitesAndReadersContinue() throws {
        let other = try sandbox.other()
        #expect(try other.ask("get key") == "1")
        let report = try sandbox.store.rotate()
        #expect(report.isCompleted && report.resealed == 1)
        #expect(try defaults.integer(forKey: "key") == 1)
        #expect(try other.ask("get key") == "1")
        #expect(try other.ask("set key 2") == "done")
        #expect(try defaults.integer(forKey: "key") == 2)
    }

    @Test func aStateFromBeforeARotationCannotBePutBack() throws {
        let old = try sandbox.keep(sandbox.file)
        #expect(try sandbox.store.rotate().isCompleted)
        try sandbox.put(old, at: sandbox.file)
        #expect([.retiredEpoch, .replayed].contains(code { _ = try defaults.integer(forKey: "key") }))
    }
}
