import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// The suite's file is found wherever the group's container lies, and the library's other work covers it.
@Suite("SealedDefaults in a container", .timeLimit(.minutes(10))) struct DefaultsContainerTests {
    let yard: DefaultsYard
    var defaults: SealedDefaults { yard.defaults }

    init() throws {
        yard = try DefaultsYard()
        try yard.defaults.set(1, forKey: "key")
        #expect(try yard.defaults.integer(forKey: "key") == 1)
    }

    @Test func aContainerThatWasMovedAwayIsMissedAndNotReadOn() throws {
        #expect(rename(yard.fixture.container, yard.fixture.container + ".away") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .containerMissing)
        #expect(code { try defaults.set(2, forKey: "key") } == .containerMissing)
        #expect(rename(yard.fixture.container + ".away", yard.fixture.container) == 0)
        #expect(try defaults.integer(forKey: "key") == 1)
    }

    @Test func aContainerThatTookItsPlaceIsFollowed() throws {
        #expect(rename(yard.fixture.container, yard.fixture.container + ".away") == 0)
        let successor = try yard.fixture.open().defaults()
        // Nobody deleted the suite: that its file is gone is told, also here.
        #expect(code { _ = try successor.integer(forKey: "key") } == .absent)
        try successor.set(7, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 7)
        try defaults.set(8, forKey: "key")
        #expect(try successor.integer(forKey: "key") == 8)
    }

    @Test func thePreferencesDirectoryMayBeReplaced() throws {
        #expect(rename(yard.preferences, yard.preferences + ".away") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .absent)
        try defaults.set(2, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 2)
    }

    @Test func aSuiteIsListedAsTheLibrarysOwn() throws {
        try yard.store.write(Note(text: "x"))
        #expect(try yard.store.list().map(\.name) == ["note"])
        let reserved = "_sealed/defaults/\(defaults.suite)"
        #expect(try yard.store.list(includingReserved: true).map(\.name) == [reserved, "note"])
        #expect(yard.store.acceptedNames.count == 2)
    }

    @Test func aSuiteIsExaminedLikeARecord() throws {
        let reserved = "_sealed/defaults/\(defaults.suite)"
        try defaults.set([UInt8](repeating: 0, count: 1_000_000), forKey: "a")
        try defaults.set([UInt8](repeating: 0, count: 1_000_000), forKey: "b")
        var codec: PayloadCodec?
        let sound = try yard.store.examine(reserved) { codec = $1 }
        #expect(sound.error == nil && codec == .binaryPropertyList)
        try yard.damage(yard.file)
        let damaged = try yard.store.examine(reserved) { _, _ in }
        #expect(damaged.error?.code == .tampered)
    }

    @Test func otherFilesInPreferencesAreNoSuites() throws {
        try SystemFile.write("\(yard.preferences)/plain.plist", [1])
        try SystemFile.write("\(yard.preferences)/with space.sealed", [1])
        mkdir("\(yard.preferences)/ByHost", 0o700)
        try SystemFile.write("\(yard.preferences)/ByHost/x.sealed", [1])
        #expect(try yard.store.defaultsSuites() == [defaults.suite])
    }

    @Test func whatLiesUnderASuitesNameAmongTheRecordsIsReadByNobody() throws {
        let wrong = "\(yard.fixture.records)/_sealed/defaults"
        _ = try yard.store.write(Note(text: "x"))
        mkdir("\(yard.fixture.records)/_sealed", 0o700)
        mkdir(wrong, 0o700)
        #expect(rename(yard.file, "\(wrong)/\(defaults.suite).sealed") == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .absent)
        #expect(try yard.store.defaultsSuites().isEmpty)
    }

    @Test func rotationResealsSuitesAndReadersGoOn() throws {
        let other = try yard.other()
        #expect(try other.ask("get key") == "1")
        let report = try yard.store.rotate()
        #expect(report.isCompleted && report.resealed == 1)
        #expect(try defaults.integer(forKey: "key") == 1)
        #expect(try other.ask("get key") == "1")
        #expect(try other.ask("set key 2") == "done")
        #expect(try defaults.integer(forKey: "key") == 2)
    }

    @Test func aStateFromBeforeARotationCannotBePutBack() throws {
        let old = try yard.keep(yard.file)
        #expect(try yard.store.rotate().isCompleted)
        try yard.put(old, at: yard.file)
        #expect([.retiredEpoch, .replayed].contains(code { _ = try defaults.integer(forKey: "key") }))
    }
}
