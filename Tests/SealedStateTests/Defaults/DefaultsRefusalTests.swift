import Glibc
import PropertyLists
import SealedState
import Sealing
import Synchronization
import TestSupport
import Testing

extension DefaultsSandbox {
    /// Changes the last byte of a file and replaces the file.
    func damage(_ path: String) throws {
        var bytes = try SystemFile.read(path)
        bytes[bytes.count - 1] ^= 1
        unlink(path)
        try SystemFile.write(path, bytes)
    }

    /// Copies a file to another name.
    func keep(_ path: String) throws -> String {
        let copy = fixture.place.path("kept-\(try SystemFile.names(fixture.place.path).count)")
        try SystemFile.write(copy, try SystemFile.read(path))
        return copy
    }

    func put(_ copy: String, at path: String) throws {
        let bytes = try SystemFile.read(copy)
        unlink(path)
        try SystemFile.write(path, bytes)
    }
}

/// Tests of a damaged or replaced suite: it is refused and never appears empty.
@Suite("SealedDefaults that are refused") struct DefaultsRefusalTests {
    private final class ReceivedEvents: Sendable {
        let warnings = Mutex<[DefaultsWarning]>([])
    }

    private let received = ReceivedEvents()
    let sandbox: DefaultsSandbox
    var defaults: SealedDefaults { sandbox.defaults }

    init() throws {
        sandbox = try DefaultsSandbox { [received] options in
            options.onWarning = { warning in received.warnings.withLock { $0.append(warning) } }
        }
        try sandbox.defaults.set(1, forKey: "key")
        #expect(try sandbox.defaults.integer(forKey: "key") == 1)
    }

    private var codes: [StoreError.Code?] {
        [
            code { _ = try defaults.integer(forKey: "key") },
            code { _ = try defaults.value(for: DefaultsKey("other", default: 1)) },
            code { _ = try defaults.persistentDomain() }, code { try defaults.set(2, forKey: "other") },
            code { try defaults.edit { $0 = [:] } },
        ]
    }

    @Test func aDamagedFileIsReportedAndNotWrittenOver() throws {
        try sandbox.damage(sandbox.file)
        let before = try SystemFile.read(sandbox.file)
        #expect(codes == Array(repeating: .tampered, count: 5))
        #expect(try SystemFile.read(sandbox.file) == before)
    }

    @Test func aFileThatWasChangedInPlaceIsReportedAsWell() throws {
        var bytes = try SystemFile.read(sandbox.file)
        bytes[bytes.count - 1] ^= 1
        let file = open(sandbox.file, O_WRONLY)
        #expect(write(file, bytes, bytes.count) == bytes.count)
        close(file)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .tampered)
    }

    @Test func anOlderStateThatWasPutBackIsReported() throws {
        let old = try sandbox.keep(sandbox.file)
        try defaults.set(2, forKey: "key")
        try sandbox.put(old, at: sandbox.file)
        #expect(codes == Array(repeating: .replayed, count: 5))
    }

    @Test func theVeryFileOfAnOlderStateIsReportedAsWell() throws {
        // The same inode, kept by a second name, so that it cannot be distinguished from the file that was read before.
        let second = sandbox.fixture.place.path("second-name")
        #expect(link(sandbox.file, second) == 0)
        let other = try sandbox.again()
        #expect(try defaults.integer(forKey: "key") == 1)
        try other.set(2, forKey: "key")
        #expect(rename(second, sandbox.file) == 0)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .replayed)
    }

    @Test func anotherSuitesFileIsReported() throws {
        try sandbox.store.defaults(suite: "other").set(7, forKey: "key")
        let other = try sandbox.keep("\(sandbox.preferences)/other.sealed")
        try sandbox.put(other, at: sandbox.file)
        #expect(codes == Array(repeating: .wrongName, count: 5))
    }

    @Test func aRecordInASuitesPlaceIsReported() throws {
        try sandbox.store.write(Note(text: "x"))
        let record = try sandbox.keep(sandbox.fixture.file("note"))
        try sandbox.put(record, at: sandbox.file)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .wrongName)
    }

    @Test(arguments: ["link", "fifo", "directory"]) func aPlantedThingIsReported(kind: String) throws {
        unlink(sandbox.file)
        switch kind {
        case "link": #expect(symlink("/etc/passwd", sandbox.file) == 0)
        case "fifo": #expect(mkfifo(sandbox.file, 0o600) == 0)
        default: #expect(mkdir(sandbox.file, 0o700) == 0)
        }
        #expect(code { _ = try defaults.integer(forKey: "key") } == .malformed)
    }

    @Test func aRefusedSuiteIsReplacedOnlyOnPurposeAndKept() throws {
        try sandbox.damage(sandbox.file)
        try defaults.setPersistentDomain(["fresh": .bool(true)])
        #expect(try defaults.persistentDomain() == ["fresh": .bool(true)])
        #expect(try SystemFile.names(sandbox.fixture.quarantine).isEmpty == false)
        try sandbox.damage(sandbox.file)
        try defaults.removePersistentDomain()
        #expect(try defaults.persistentDomain().isEmpty)
    }

    @Test func aFileThatIsGoneIsReportedUntilSomethingIsWritten() throws {
        unlink(sandbox.file)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .absent)
        #expect(code { _ = try sandbox.again().persistentDomain() } == .absent)
        #expect(try sandbox.other().ask("get key") == "absent")
        try defaults.set(5, forKey: "five")
        #expect(try defaults.persistentDomain() == ["five": .integer(5)])
        #expect(received.warnings.withLock { $0 } == [.beganAnew(suite: defaults.suite, sequence: 1)])
    }

    @Test func aRemovedSuiteIsEmptyAndCannotBePutBack() throws {
        let old = try sandbox.keep(sandbox.file)
        try defaults.removePersistentDomain()
        try defaults.removePersistentDomain()
        #expect(try defaults.persistentDomain().isEmpty)
        #expect(try defaults.integer(forKey: "key") == 0)
        #expect(try sandbox.other().ask("keys") == "0")
        #expect(try sandbox.store.defaultsSuites().isEmpty)
        try sandbox.put(old, at: sandbox.file)
        #expect(code { _ = try defaults.integer(forKey: "key") } == .replayed)
    }

    @Test func aSuiteIsWrittenAgainAfterItsRemoval() throws {
        try defaults.removePersistentDomain()
        try defaults.set(3, forKey: "key")
        #expect(try sandbox.other().ask("get key") == "3")
        #expect(received.warnings.withLock { $0 }.isEmpty)
    }

    struct Forged: Sendable, CustomTestStringConvertible {
        let bytes: [UInt8]
        var codec = PayloadCodec.binaryPropertyList
        var version: UInt32 = 1
        let code: StoreError.Code
        var testDescription: String { "\(code.rawValue) \(codec) \(bytes.count)" }
    }

    static var forged: [Forged] {
        let empty = (try? PropertyList.bytes(of: .dictionary([:]), as: .binary)) ?? []
        var deep = PropertyListValue.array([])
        for _ in 0..<70 { deep = .array([deep]) }
        return [
            Forged(bytes: (try? PropertyList.bytes(of: .array([]), as: .binary)) ?? [], code: .undecodable),
            Forged(bytes: Array("{}".utf8), codec: .json, code: .undecodable),
            Forged(bytes: Array(empty.dropLast()), code: .undecodable),
            Forged(bytes: empty, version: 2, code: .tooNew),
            Forged(
                bytes: (try? PropertyList.bytes(of: .dictionary(["a": deep]), as: .binary)) ?? [],
                code: .unsafeStructure),
        ]
    }

    @Test(arguments: forged) func unknownEntriesAreReported(row: Forged) throws {
        var forgery = try Forgery(sandbox.store)
        forgery.name = "_sealed/defaults/\(sandbox.fixture.group)"
        forgery.sequence = 2
        (forgery.codec, forgery.schemaVersion, forgery.payload) = (row.codec, row.version, .bytes(row.bytes))
        unlink(sandbox.file)
        try SystemFile.write(sandbox.file, forgery.blob)
        #expect(code { _ = try defaults.integer(forKey: "key") } == row.code)
        #expect(code { try defaults.set(1, forKey: "other") } == row.code)
    }

    @Test func theHookIsNotifiedOfARefusalAndOfNothingElse() throws {
        let reported = Mutex<[StoreError.Code]>([])
        try withExtendedLifetime(reported) {
            let own = try sandbox.again { $0.onRejection = { error in reported.withLock { $0.append(error.code) } } }
            #expect(try own.integer(forKey: "key") == 1)
            try sandbox.damage(sandbox.file)
            #expect(code { _ = try own.integer(forKey: "key") } == .tampered)
            #expect(reported.withLock { $0 } == [.tampered])
        }
    }
}
