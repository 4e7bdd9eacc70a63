#if Service
import AppGroups
import FoundationEssentials
import Logging
import Metrics
import MetricsTestKit
import SealedState
import Synchronization
import TestSupport
import Testing

@testable import SealedStateService

/// A record with a rule that a test breaks.
private struct Sign: SealedRecord {
    static let recordName = "sign"
    static let schemaVersion = 1
    var text: String
    var expiresAt: Date?

    static let rules: [FieldRule<Self>] = [
        .field("text", \.text, .custom("must be calm \(Self.canary)") { !$0.hasSuffix("!") })
    ]
    static let canary = "canary-of-a-rule"
}

/// The same record in another program, without the rule.
private struct LooseSign: SealedRecord {
    static let recordName = Sign.recordName
    static let schemaVersion = 1
    var text: String
}

/// A line of a log.
private struct Line: Sendable {
    let level: Logger.Level
    let text: String
    let metadata: [String: String]
}

/// A log handler that keeps lines instead of printing them.
private struct CapturingHandler: LogHandler {
    final class Lines: Sendable {
        private let lines = Mutex<[Line]>([])
        func add(_ line: Line) { lines.withLock { $0.append(line) } }
        var all: [Line] { lines.withLock { $0 } }
    }

    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.add(
            Line(
                level: event.level, text: "\(event.message)",
                metadata: (event.metadata ?? [:]).mapValues { "\($0)" }))
    }
}

@Suite struct ObservingTests {
    private let place: TemporaryDirectory
    private let lines = CapturingHandler.Lines()
    private let metrics = TestMetrics()
    private let store: SealedStore

    init() throws {
        place = try TemporaryDirectory()
        var options = StoreOptions()
        options.durability = .unsynced
        let handler = CapturingHandler(lines: lines)
        options.observe(with: Logger(label: "test", factory: { _ in handler }), metrics: metrics)
        store = try SealedStore(
            group: AppGroup("group.com.example.observed"), in: GroupsHome(root: place.path), options: options)
    }

    private var file: String {
        "\(store.containerPath)/Library/Application Support/Records/\(Sign.recordName).sealed"
    }

    private func count(_ code: String) throws -> Int64 {
        try metrics.expectCounter("sealedstate_rejections", [("code", code)]).totalValue
    }

    @Test func aSoundReadSaysNothing() throws {
        try store.write(Sign(text: "calm"))
        _ = try store.read(Sign.self)
        #expect(lines.all.isEmpty)
    }

    @Test func anAttackIsAWarningAndIsCounted() throws {
        try store.write(Sign(text: "calm"))
        let old = try SystemFile.read(file)
        try store.write(Sign(text: "calm again"))
        try SystemFile.write(file, old)
        _ = store.readIfValid(Sign.self)
        let line = try #require(lines.all.first)
        #expect(lines.all.count == 1 && line.level == .warning)
        #expect(line.metadata["record"] == "sign" && line.metadata["code"] == "replayed")
        #expect(line.metadata["check"] == "order")
        #expect(try count("replayed") == 1)
    }

    @Test func expiryIsANotice() throws {
        try store.write(Sign(text: "calm", expiresAt: Date() - 60))
        _ = store.readIfValid(Sign.self)
        #expect(lines.all.map(\.level) == [.notice])
        #expect(try count("stale") == 1)
    }

    @Test func aRepeatedRejectionIsCountedAndGoesToDebug() throws {
        try store.write(Sign(text: "calm"))
        try SystemFile.write(file, [1, 2, 3])
        for _ in 0..<3 { _ = store.readIfValid(Sign.self) }
        #expect(lines.all.map(\.level) == [.warning, .debug, .debug])
        #expect(try count("malformed") == 3)
    }

    @Test func afterThePauseItIsReportedAgain() throws {
        let clock = Mutex(ContinuousClock.now)
        let handler = CapturingHandler(lines: lines)
        let logger = RejectionLogger(
            Logger(label: "test", factory: { _ in handler }), now: { clock.withLock { $0 } })
        try store.write(Sign(text: "calm"))
        try SystemFile.write(file, [1, 2, 3])
        var error: StoreError?
        do throws(StoreError) { _ = try store.read(Sign.self) } catch let caught { error = caught }
        let refused = try #require(error)
        logger.log(refused)
        clock.withLock { $0 += RejectionLogger.pause }
        logger.log(refused)
        #expect(lines.all.map(\.level) == [.warning, .warning, .warning])
    }

    @Test func aHookThatWasThereIsStillCalled() throws {
        let heard = Mutex(0)
        var options = StoreOptions()
        options.onRejection = { _ in heard.withLock { $0 += 1 } }
        options.observe(with: nil, metrics: metrics)
        let error = StoreError(.tampered, "read", "sign", "It was changed.")
        options.onRejection?(error)
        #expect(heard.withLock { $0 } == 1)
        #expect(try count("tampered") == 1)
    }

    @Test func aCopyThatCouldNotBeKeptIsCountedApart() throws {
        var options = StoreOptions()
        let handler = CapturingHandler(lines: lines)
        options.observe(with: Logger(label: "test", factory: { _ in handler }), metrics: metrics)
        options.onRejection?(StoreError(.noSpace, "keep in quarantine", "sign", "The disk is full."))
        #expect(try metrics.expectCounter("sealedstate_quarantine_failures").totalValue == 1)
        #expect(lines.all.map(\.level) == [.warning])
    }

    @Test func nothingOfTheContentsIsLoggedOrCounted() throws {
        let canary = "canary-of-the-contents"
        try store.write(LooseSign(text: canary + "!"))
        _ = store.readIfValid(Sign.self)
        try store.write(LooseSign(text: canary))
        var bytes = try SystemFile.read(file)
        bytes[bytes.count - 1] ^= 1
        try SystemFile.write(file, bytes)
        _ = store.readIfValid(Sign.self)
        _ = store.readIfValid(WrongSign.self, named: Sign.recordName)
        #expect(lines.all.compactMap { $0.metadata["code"] } == ["invalid", "tampered", "tampered"])
        let reported = lines.all.map { "\($0.text) \($0.metadata)" }.joined()
        #expect(!reported.contains(canary) && !reported.contains(Sign.canary))
        let labels = metrics.counters.flatMap { [$0.label] + $0.dimensions.map { "\($0.0)=\($0.1)" } }
        #expect(labels.contains("code=invalid") && !labels.contains { $0.contains("canary") })
    }
}

/// Another shape under the same name.
private struct WrongSign: SealedRecord {
    static let recordName = Sign.recordName
    static let schemaVersion = 1
    var text: Int
}
#endif
