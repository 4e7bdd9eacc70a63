import Foundation
import TestSupport
import Testing

@testable import PropertyLists

@Suite struct BinaryPropertyListTests {
    typealias File = PropertyListFile

    private func fault(_ bytes: [UInt8], limits: StructureLimits = .propertyList) -> StructureFault? {
        do throws(StructureFault) { _ = try PropertyList.parse(bytes, limits: limits) } catch { return error }
        return nil
    }

    private func isMalformed(_ bytes: [UInt8]) -> Bool {
        if case .malformed = fault(bytes) { true } else { false }
    }

    private func read(_ bytes: [UInt8]) throws -> PropertyListValue { try PropertyList.parse(bytes).value }

    private func written(_ value: PropertyListValue) throws -> [UInt8] {
        try PropertyList.bytes(of: value, as: .binary)
    }

    @Test func writtenListsReadBack() throws {
        let bytes = try written(Samples.everything)
        #expect(try PropertyList.parse(bytes).format == .binary)
        #expect(try read(bytes) == Samples.everything)
    }

    @Test(arguments: 0..<40) func anyValueReadsBackHereAndInFoundation(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let value = Samples.random(using: &generator)
            let bytes = try written(value)
            #expect(try read(bytes) == value)
            #expect(try FoundationOracle.reads(bytes, as: value))
        }
    }

    @Test(arguments: 0..<40) func listsThatFoundationWritesAreReadTheSame(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let value = Samples.random(using: &generator)
            #expect(try read(FoundationOracle.bytes(of: value, as: .binary)) == value)
        }
    }

    @Test func everythingPassesThroughFoundation() throws {
        #expect(try read(FoundationOracle.bytes(of: Samples.everything, as: .binary)) == Samples.everything)
        #expect(try FoundationOracle.reads(try written(Samples.everything), as: Samples.everything))
    }

    @Test func aFileOfOneMemberHasFoundationsBytes() throws {
        let value = PropertyListValue.dictionary(["key": .array([.string("text"), .integer(300), .real(0.5)])])
        #expect(try written(value) == FoundationOracle.bytes(of: value, as: .binary))
    }

    @Test func theSameValueMakesTheSameBytes() throws {
        let names = (0..<200).map { "key \($0)" }
        let first = Dictionary(uniqueKeysWithValues: names.map { ($0, PropertyListValue.string($0)) })
        let second = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, PropertyListValue.string($0)) })
        #expect(try written(.dictionary(first)) == written(.dictionary(second)))
    }

    @Test func keysAreInTheOrderOfTheirBytes() throws {
        let bytes = try written(.dictionary(["b": .bool(true), "a": .bool(true), "ab": .bool(true), "B": .bool(true)]))
        let keys = [File.text("B"), File.text("a"), File.text("ab"), File.text("b")].flatMap { $0 }
        #expect(Array(bytes[17..<17 + keys.count]) == keys)
    }

    @Test func equalScalarsAreWrittenOnceAndOnlyTheSameBytesAreEqual() throws {
        let same = try written(.array([.string("word"), .string("word")]))
        #expect(same.count == (try written(.array([.string("word")]))).count + 1)
        // Canonically equivalent, not the same text.
        let accents = PropertyListValue.array([.string("\u{E9}"), .string("e\u{301}")])
        guard case .array(let texts) = try read(try written(accents)) else {
            Issue.record("no array")
            return
        }
        #expect(texts.map { $0.string.map { Array($0.unicodeScalars).count } } == [1, 2])
        guard case .array(let zeros) = try read(try written(.array([.real(0), .real(-0.0)]))) else {
            Issue.record("no array")
            return
        }
        #expect(zeros.map { $0.real?.sign } == [.plus, .minus])
    }

    @Test func aNumberThatIsInvalidIsKept() throws {
        #expect(try read(try written(.real(.nan))).real?.isNaN == true)
        #expect(try read(try written(.real(-.infinity))) == .real(-.infinity))
    }

    @Test func numbersHaveTheirSignOnlyInEightBytes() throws {
        #expect(try read(File([[0x10, 0xFF]]).bytes) == .integer(255))
        #expect(try read(File([[0x12] + File.big(-1, 4)]).bytes) == .integer(4_294_967_295))
        #expect(try read(File([[0x13] + File.big(-1, 8)]).bytes) == .integer(-1))
        #expect(try read(File([[0x14] + File.big(0, 8) + File.big(-1, 8)]).bytes) == .unsigned(.max))
        #expect(try read(File([[0x14] + File.big(0, 8) + File.big(7, 8)]).bytes) == .integer(7))
        #expect(try read(File([[0x22] + File.big(0x3FC0_0000, 4)]).bytes) == .real(1.5))
    }

    @Test func sharedObjectsAreBuiltForEachReference() throws {
        let file = File([File.array([1, 1]), File.array([2, 2]), File.one])
        let pair = PropertyListValue.array([.integer(1), .integer(1)])
        #expect(try read(file.bytes) == .array([pair, pair]))
        #expect(fault(File.doubling(60).bytes) == .tooManyValues(limit: StructureLimits.propertyList.values))
    }

    @Test func aContainerWithinItselfIsRefused() {
        #expect(fault(File([File.array([0])]).bytes) == .cycle)
    }

    @Test func aKeyThatOccursTwiceIsRefused() {
        #expect(
            isMalformed(File([File.dictionary([(1, 3), (2, 3)]), File.text("a"), File.text("a"), File.one]).bytes))
        #expect(isMalformed(File([File.dictionary([(1, 2), (1, 2)]), File.text("a"), File.one]).bytes))
        let equivalent = File([
            File.dictionary([(1, 3), (2, 3)]), File.wide("\u{E9}"), File.wide("e\u{301}"), File.one,
        ])
        #expect(isMalformed(equivalent.bytes))
    }

    @Test func halfACharacterIsRefused() {
        for units: [UInt8] in [[0xD8, 0x3D], [0xDE, 0x00], [0xD8, 0x3D, 0x00, 0x61], [0xDE, 0x00, 0xD8, 0x3D]] {
            #expect(isMalformed(File([[0x60 | UInt8(units.count / 2)] + units]).bytes))
        }
    }

    @Test func aNullIsRefused() {
        #expect(fault(File([[0x00]]).bytes) == .unsupported("a null"))
    }

    // A count of a thousand million: refused before memory is allocated for it.
    @Test func aClaimOfAGigabyteIsRefusedByWhatIsThere() {
        for kind: UInt8 in [0x4F, 0x5F, 0x6F, 0xAF, 0xDF] {
            #expect(isMalformed(File([[kind, 0x12] + File.big(1 << 30, 4)]).bytes))
        }
        var file = File([File.one])
        file.count = 1 << 30
        #expect(isMalformed(file.bytes))
    }

    @Test func writersRefuseWhatReadersWould() throws {
        func fault(_ value: PropertyListValue) -> StructureFault? {
            do throws(StructureFault) { _ = try PropertyList.bytes(of: value, as: .binary) } catch { return error }
            return nil
        }
        let deep = (0..<512).reduce(PropertyListValue.integer(1)) { value, _ in .array([value]) }
        #expect(fault(deep) == nil)
        #expect(fault(.array([deep])) == .tooDeep(limit: 512))
        #expect(fault(.dictionary([String(repeating: "x", count: 4097): .bool(true)])) == .longKey)
        #expect(fault(.string("a" + String(repeating: "\u{301}", count: 31))) == .stackedMarks)
    }

    @Test func moreThan255ObjectsAndMoreThan65535() throws {
        for count in [300, 70_000] {
            let value = PropertyListValue.array((0..<count).map { .integer(Int64($0)) })
            let bytes = try written(value)
            #expect(try read(bytes) == value)
            #expect(try FoundationOracle.reads(bytes, as: value))
        }
    }
}
