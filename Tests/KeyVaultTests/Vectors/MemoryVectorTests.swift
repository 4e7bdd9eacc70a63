import CryptoPrimitives
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// The section `watermarks` of `Fixtures/vectors/manifest.json`.
struct WatermarksVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        let key, boot: VectorBytes
    }

    struct Floor: Decodable, Hashable, Sendable {
        let name, commitment: VectorBytes
        let sequence, settled: UInt64
        let epoch: UInt32
        let anchor: Int64
        let isGone: Bool
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let damagedEntries: Int?
        let floors: [Floor]
    }

    let name, file: String
    let reader: Reader
    let expected: Expected

    var testDescription: String { name }

    static let all: [WatermarksVector] = VectorManifest.entries("watermarks")
}

/// The section `accessLog` of `Fixtures/vectors/manifest.json`.
struct AccessLogVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Key: Decodable, Sendable {
        let number: UInt32
        let key: VectorBytes
    }

    struct Reader: Decodable, Sendable {
        let keys: [Key]
        let head: VectorBytes?
    }

    struct Entry: Decodable, Hashable, Sendable {
        let index: UInt64
        let event, outcome: UInt16
        let isAuthentic: Bool
    }

    struct Expected: Decodable, Sendable {
        let result, notedHead: String
        let rule: String?
        let entries: [Entry]
        let firstIndex: UInt64
        let badIndexes: [UInt64]
        let tornCount, uncoveredCount: Int
        let endsTorn: Bool
    }

    let name: String
    let files: [VectorFile]
    let reader: Reader
    let expected: Expected

    var testDescription: String { name }

    static let all: [AccessLogVector] = VectorManifest.entries("accessLog")
}

@Suite struct MemoryVectorTests {
    @Test func thereAreVectorsForEveryRule() {
        #expect(Set(WatermarksVector.all.compactMap(\.expected.rule)) == Set((1...3).map { "M\($0)" }))
        #expect(Set(AccessLogVector.all.compactMap(\.expected.rule)) == Set((1...9).map { "L\($0)" }))
    }

    @Test(arguments: WatermarksVector.all)
    func watermarksGiveTheExpectedFloors(vector: WatermarksVector) throws {
        let key = vector.reader.key.bytes.withRawBytes { SecretBytes(copying: $0) }
        let boot = BootID(bytes: vector.reader.boot.bytes.withRawBytes { Bytes16($0) })
        let file = try SystemFile.read("\(VectorManifest.folder)/\(vector.file)")
        var scan = WatermarkScan()
        _ = file.withRawBytes { scan.add($0, at: 0, isLast: true, key: key) }
        var floors: [NameTag: AcceptedState] = [:]
        for entry in scan.entries {
            guard let floor = entry.floor(in: boot) else { continue }
            floors[entry.name, default: floor].merge(floor)
        }
        #expect(scan.damagedCount == vector.expected.damagedEntries ?? 0)
        #expect((vector.expected.result == "ok") == (scan.damagedCount == 0))
        #expect(floors.count == vector.expected.floors.count)
        for floor in vector.expected.floors {
            let state = try #require(floors[NameTag(bytes: floor.name.bytes.withRawBytes { Bytes16($0) })])
            let commitment = state.mark.commitment?.bytes.withUnsafeBytes { Array($0) } ?? []
            #expect(state.mark.sequence == floor.sequence && state.mark.epoch == floor.epoch)
            #expect(state.settled == floor.settled && state.anchor.milliseconds == floor.anchor)
            #expect(commitment == floor.commitment.bytes && state.isGone == floor.isGone)
        }
    }

    @Test(arguments: AccessLogVector.all)
    func accessLogIsVerifiedAsExpected(vector: AccessLogVector) throws {
        let place = try TemporaryDirectory()
        for file in vector.files { try SystemFile.write(place.path(try #require(file.path)), file.bytes()) }
        let keys = AccessLogKeys(
            vector.reader.keys.map { key in
                (key.number, SecretBytesBox(key.key.bytes.withRawBytes { SecretBytes(copying: $0) }))
            })
        let log = AccessLog(directory: try .open(place.path), mode: 0o600, keys: keys)
        let head = try vector.reader.head.map { try #require(AccessLogHead(decoding: $0.bytes[...])) }
        var entries: [AccessLogVector.Entry] = []
        let found = try log.read(noted: head) { entry, isAuthentic in
            entries.append(
                AccessLogVector.Entry(
                    index: entry.index, event: entry.event.rawValue, outcome: entry.outcome.rawValue,
                    isAuthentic: isAuthentic))
        }
        let expected = vector.expected
        #expect(entries == expected.entries)
        #expect(found.firstIndex == expected.firstIndex && found.badIndexes == expected.badIndexes)
        #expect(found.tornCount == expected.tornCount && found.endsTorn == expected.endsTorn)
        #expect(found.uncoveredCount == expected.uncoveredCount)
        #expect(found.notedHead.name == expected.notedHead)
        #expect(found.isIntact == (expected.result == "ok"))
        #expect(found.result == expected.result)
    }

    /// A table of docs/spec/access-log.md contains each rule with its result.
    @Test func theDocumentNamesTheResultOfEveryRule() throws {
        let path = "\(VectorManifest.folder)/../../docs/spec/access-log.md"
        let lines = String(decoding: try SystemFile.read(path), as: UTF8.self).split(separator: "\n")
        for vector in AccessLogVector.all {
            guard let rule = vector.expected.rule else { continue }
            let row = try #require(lines.first { $0.hasPrefix("| \(rule) | ") }, "\(rule)")
            #expect(row.hasSuffix("| `\(vector.expected.result)` |"), "\(vector.name)")
        }
    }
}

extension AccessLogVerification {
    /// The result by its name in docs/spec/access-log.md: that of the first broken rule.
    fileprivate var result: String {
        if badCount > unsupportedCount { return "tampered" }
        if unsupportedCount > 0 { return "unsupported" }
        if isOlderFileMissing { return "olderFileMissing" }
        return switch notedHead {
        case .cutShort: "cutShort"
        case .differs: "headDiffers"
        case .none, .found, .rolledAway: "ok"
        }
    }
}

extension AccessLogVerification.NotedHead {
    fileprivate var name: String {
        switch self {
        case .none: "none"
        case .found: "found"
        case .rolledAway: "rolledAway"
        case .cutShort: "cutShort"
        case .differs: "differs"
        }
    }
}
