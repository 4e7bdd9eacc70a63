import FoundationEssentials
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of the table of rejections, and of each of them.
@Suite struct RejectionCatalogueTests {
    @Test func theTableIsInTheOrderOfTheChecks() {
        let checks = StoreError.Code.rejections.compactMap(\.check)
        #expect(checks.count == StoreError.Code.rejections.count)
        #expect(checks == checks.sorted())
        #expect(Set(checks) == Set(ReadCheck.allCases))
    }

    @Test func everyCodeOfTheSourceIsInTheTable() throws {
        let here = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let names = try codes(below: here + "/Sources/Core/SealedState")
        #expect(names.count > 30)
        #expect(Set(names).subtracting(StoreError.Code.all.map(\.rawValue)) == [])
        #expect(Set(StoreError.Code.all).count == StoreError.Code.all.count)
    }

    /// Returns the names of all codes that the sources declare.
    private func codes(below directory: String) throws -> [String] {
        try SystemFile.names(directory).flatMap { leaf -> [String] in
            let path = "\(directory)/\(leaf)"
            guard leaf.hasSuffix(".swift") else { return (try? codes(below: path)) ?? [] }
            let source = String(decoding: try SystemFile.read(path), as: UTF8.self)
            return source.split(separator: "\n").compactMap { line -> String? in
                guard line.contains("static let"), let start = line.firstRange(of: "Code(rawValue: \"") else {
                    return nil
                }
                return String(line[start.upperBound...].prefix { $0 != "\"" })
            }
        }
    }

    @Test(arguments: StoreError.Code.all) func anExplanationIsOneSentence(_ code: StoreError.Code) {
        #expect(code.explanation.hasSuffix(".") && !code.explanation.dropLast().contains(". "))
        #expect(code.defaultAdvice.hasSuffix("."))
    }

    @Test func failuresOutsideTheBlobAreNotRejections() {
        for code in [.absent, .locked, .containerMissing, .file, .vault, .permissionDenied] as [StoreError.Code] {
            #expect(!code.isRejection)
        }
        #expect(!StoreError.Code(rawValue: "ofALaterVersion").isRejection)
    }

    /// Vaults hold keys of the only suite that headers may name, so no store can refuse a suite yet; SealingTests do.
    /// WriterAuthorityTests has the rejections of rosters, DowngradeTests those of a person's names.
    private static let refusable = StoreError.Code.rejections.filter {
        $0 != .wrongSuite && $0 != .downgraded && $0.check != .authority
    }

    @Test(arguments: refusable) func aReadRefusesForIt(_ code: StoreError.Code) throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        var forgery = try Forgery(store)
        forgery.sequence = 7
        try fixture.plant(forgery.blob)
        _ = try store.read(Note.self)
        forgery.sequence = 8
        try forge(code, &forgery, store)
        try fixture.plant(forgery.blob)
        let error = refusal {
            if code == .migrationFailed { _ = try store.read(Unreachable.self) } else { _ = try store.read(Note.self) }
        }
        #expect(error?.code == code && error?.isRejection == true, "\(error?.description ?? "was read")")
    }

    /// Makes a blob that is refused with the given code.
    private func forge(_ code: StoreError.Code, _ forgery: inout Forgery, _ store: SealedStore) throws {
        switch code {
        case .forked:
            forgery.sequence = 7
            forgery.payload.text = "other"
        case .sequenceJump: forgery.sequence = 8 + 1 << 32
        case .tooOld: forgery.schemaVersion = 1
        case .migrationFailed: break
        case .retiredEpoch:
            var options = RotationOptions()
            options.durability = .unsynced
            try store.rotate(options)
        default:
            let fault = try #require(Fault.allCases.first { $0.code == code }, "nothing makes a blob \(code.rawValue)")
            try fault.apply(to: &forgery)
        }
    }

    /// A note of a later version, to which no step leads.
    private struct Unreachable: SealedRecord {
        static let recordName = Note.recordName
        static let schemaVersion = Note.schemaVersion + 1
        static let migrations = SchemaMigrations<Self>.from(Note.schemaVersion, Note.self) { _ throws in
            throw CancellationError()
        }
        var text: String
    }
}
