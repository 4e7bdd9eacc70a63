import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct ContainerQuotaTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    @Test func usageCountsFilesByTheirPart() throws {
        let container = try sandbox.open()
        let library = "\(container.path)/Library"
        run("mkdir \(sandbox.shell("\(container.path)/Own"))")
        for (path, size) in [
            ("\(library)/Caches/a", 10), ("\(library)/Preferences/b", 20), ("\(container.path)/Own/c", 30),
        ] {
            try SystemFile.write(path, [UInt8](repeating: 1, count: size))
        }
        try sandbox.mark(container, size: 5)
        let usage = container.usage()
        #expect(usage.total.files == 4 && usage.total.bytes == 65 && usage.unreadable == 0)
        #expect(usage.total.allocatedBytes >= 0)
        let parts = Dictionary(uniqueKeysWithValues: usage.parts.map { ($0.path, $0.amount.bytes) })
        #expect(
            parts == [
                ".": 5, "Library/Application Support": 0, "Library/Caches": 10, "Library/Preferences": 20, "Own": 30,
            ])
    }

    @Test func aFileOfTwoNamesCountsOnceAndLinksNever() throws {
        let container = try sandbox.open()
        try sandbox.mark(container, size: 100)
        #expect(link("\(container.path)/mark", "\(container.path)/second") == 0)
        #expect(symlink("/etc/passwd", "\(container.path)/third") == 0)
        #expect(container.usage().total.bytes == 100 && container.usage().total.files == 1)
    }

    @Test func aRecordLimitIsKnownToTheContainerAndCanBeTakenAway() throws {
        #expect(try sandbox.open().recordLimit == nil)
        for bytes in [64 << 10, 4 << 20, 64 << 20] as [Int64] {
            try sandbox.registry.setRecordLimit(bytes)
            #expect(try sandbox.open().recordLimit == Int(bytes))
        }
        for bytes in [-1, 0, 64 << 10 - 1, 64 << 20 + 1, .max] as [Int64] {
            #expect(code { try sandbox.registry.setRecordLimit(bytes) } == .invalidRecordLimit)
        }
        #expect(try sandbox.open().recordLimit == 64 << 20)
        try sandbox.registry.setRecordLimit(nil)
        #expect(try sandbox.open().recordLimit == nil)
    }

    /// The copy in the container states it where the registry is lost.
    @Test func aRecordLimitSurvivesTheLossOfTheRegistry() throws {
        _ = try sandbox.open()
        try sandbox.registry.setRecordLimit(4 << 20)
        sandbox.removeRegistry()
        #expect(try sandbox.open().recordLimit == 4 << 20)
    }

    /// A member who edits the registry cannot make readers allocate more.
    @Test(arguments: ["67108865", "9223372036854775807", "0", "-1"])
    func anEditedLimitBeyondTheRangeIsRefused(_ number: String) throws {
        _ = try sandbox.open()
        try sandbox.registry.setRecordLimit(4 << 20)
        let path = sandbox.file
        let text = String(decoding: try SystemFile.read(path), as: UTF8.self)
        try SystemFile.write(path, Array(text.split(separator: "4194304").joined(separator: number).utf8))
        #expect(code { _ = try sandbox.open() } == .damagedRegistry)
    }

    @Test func aQuotaIsKnownToTheContainerAndCanBeTakenAway() throws {
        let container = try sandbox.open()
        #expect(try container.quota() == nil)
        try sandbox.registry.setQuota(1000)
        #expect(try container.quota() == 1000)
        try sandbox.registry.setQuota(nil)
        #expect(try container.quota() == nil)
        #expect(code { try sandbox.registry.setQuota(-1) } == .invalidQuota)
    }

    private func admits(_ container: GroupContainer, _ path: String, _ size: Int) -> FileError.Code? {
        do throws(FileError) {
            try container.quotaGate.admit(path, size: size)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func theQuotaIsEnforcedToTheByte() throws {
        let container = try sandbox.open()
        try sandbox.registry.setQuota(10_000)
        let used = Int(container.usage().total.bytes)
        #expect(admits(container, "new", 10_000 - used) == nil)
        let again = try sandbox.open()
        #expect(admits(again, "new", 10_001 - used) == .quotaExceeded)
    }

    @Test func aReplacementCountsByItsGrowthAndShrinkingIsAlwaysAllowed() throws {
        let container = try sandbox.open()
        try sandbox.mark(container, size: 20_000)
        try sandbox.registry.setQuota(10_000)
        #expect(admits(container, "mark", 20_000) == nil)
        #expect(admits(container, "mark", 20_001) == .quotaExceeded)
        #expect(admits(container, "other", 1) == .quotaExceeded)
    }

    @Test func anOpenContainerNoticesAQuotaThatAnotherProcessSets() throws {
        let container = try sandbox.open()
        #expect(admits(container, "new", 5000) == nil)
        let result = try ChildProcess.run("sealed-probe", sandbox.probe(["quota", "1000"]))
        #expect(result.exitCode == 0)
        #expect(admits(container, "new", 5000) == .quotaExceeded)
        try sandbox.registry.setQuota(nil)
        #expect(admits(container, "new", 5000) == nil)
    }

    @Test func farFromTheLimitTheContainerIsNotMeasuredAgain() throws {
        let container = try sandbox.open()
        try sandbox.registry.setQuota(1_000_000)
        #expect(admits(container, "new", 10) == nil)
        // The gate has no notice of this file: if it looked, it would refuse.
        try sandbox.mark(container, size: 1_000_000)
        #expect(admits(container, "new", 10) == nil)
    }

    @Test func nearTheLimitItIsMeasuredAgainEachTime() throws {
        let container = try sandbox.open()
        try sandbox.registry.setQuota(100_000)
        try sandbox.mark(container, "most", size: 92_000)
        #expect(admits(container, "new", 1000) == nil)
        try sandbox.mark(container, "rest", size: 10_000)
        #expect(admits(container, "new", 1000) == .quotaExceeded)
        unlink("\(container.path)/most")
        #expect(admits(container, "new", 1000) == nil)
    }

    @Test(arguments: ContainerBehavior.allCases)
    func programsWithAnAbandonedContainerOpenAreNotified(behavior: ContainerBehavior) throws {
        let container = try sandbox.register("app", behavior)
        #expect(admits(container, "new", 1) == nil)
        try sandbox.registry.reset()
        #expect(admits(container, "new", 1) == .notFound)
        #expect(admits(try sandbox.open(), "new", 1) == nil)
    }

    @Test func aDamagedCopyRefusesWritesInsteadOfForgettingTheQuota() throws {
        let container = try sandbox.open()
        try sandbox.registry.setQuota(1000)
        try SystemFile.write("\(container.path)/.sealedstate.container", Array("x".utf8))
        #expect(admits(container, "new", 1) == .damagedContainer)
    }

    @Test func filesOfHolesThatAreLargerThanAnyNumberTakeNothingDown() throws {
        let container = try sandbox.open()
        try sandbox.registry.setQuota(10_000)
        for name in ["a", "b"] {
            try sandbox.mark(container, name)
            try #require(truncate("\(container.path)/\(name)", Self.largest) == 0)
        }
        #expect(container.usage().total.bytes >= Int64(Self.largest))
        #expect(admits(container, "new", 1) == .quotaExceeded)
        #expect(admits(container, "a", 1) == nil)
    }

    /// The largest size that the file system of temporary directories takes.
    private static let largest: Int = {
        guard let directory = try? TemporaryDirectory(), (try? directory.file("x", "")) != nil else { return 1 << 40 }
        return (40...62).reversed().map { (1 << $0) + ((1 << $0) - 4096) }
            .first { truncate(directory.path("x"), $0) == 0 } ?? 1 << 40
    }()
}
