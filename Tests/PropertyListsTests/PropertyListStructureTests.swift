import FoundationEssentials
import TestSupport
import Testing

@testable import PropertyLists

@Suite struct PropertyListStructureTests {
    typealias File = PropertyListFile

    private static let encoder: PropertyListEncoder = {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return encoder
    }()

    private func fault(
        _ bytes: [UInt8], depth: Int = 64, values: Int = 100_000, size: Int = 1 << 20
    ) -> StructureFault? {
        let limits = StructureLimits(depth: depth, values: values, size: size)
        return bytes.withUnsafeBytes { bytes in
            do throws(StructureFault) { try PropertyListStructure.check(bytes, against: limits) } catch { return error }
            return nil
        }
    }

    private func isMalformed(_ file: File) -> Bool {
        if case .malformed = fault(file.bytes) { return true }
        return false
    }

    private func isUnsupported(_ objects: [UInt8]...) -> Bool {
        if case .unsupported = fault(File(objects).bytes) { return true }
        return false
    }

    struct Everything: Codable, Equatable {
        var text = "plain"
        var wide = "größer 嬢 😀"
        var numbers = [0, 1, -1, 255, 65_536, Int.max, Int.min]
        var largest = UInt64.max
        var real = 1.5
        var small: Float = 0.25
        var isTrue = true
        var when = Date(timeIntervalSince1970: 0.123456789)
        var bytes = Data((0..<200).map { UInt8($0) })
        var maybe: [String?] = ["a", nil]
        var map = ["a": [["b": 1.5]]]
        var long = String(repeating: "x", count: 70_000)
        var many = Array(0..<1000)
    }

    @Test func encoderOutputPassesAndReadsBack() throws {
        let payload = Array(try Self.encoder.encode(Everything()))
        #expect(fault(payload) == nil)
        let back = try PropertyListDecoder().decode(Everything.self, from: Data(payload))
        #expect(back == Everything())
    }

    @Test func aFileBuiltByHandReads() throws {
        let file = File([File.dictionary([(1, 2)]), File.text("a"), File.array([3, 3]), File.one])
        #expect(fault(file.bytes) == nil)
        let value = try PropertyListDecoder().decode([String: [Int]].self, from: Data(file.bytes))
        #expect(value == ["a": [1, 1]])
    }

    @Test func aContainerWithinItselfIsRefused() {
        #expect(fault(File([File.array([0])]).bytes) == .cycle)
        #expect(fault(File([File.array([1]), File.array([2]), File.array([0])]).bytes) == .cycle)
        #expect(fault(File([File.dictionary([(1, 0)]), File.text("a")]).bytes) == .cycle)
    }

    @Test func sharedContainersCountAsOftenAsTheyAreReferenced() {
        // 2^(n + 1) - 1 values for n levels.
        #expect(fault(File.doubling(9).bytes, values: 1023) == nil)
        #expect(fault(File.doubling(9).bytes, values: 1022) == .tooManyValues(limit: 1022))
        #expect(fault(File.doubling(62).bytes) == .tooManyValues(limit: 100_000))
        #expect(fault(File.doubling(200).bytes, depth: .max, values: .max) == .tooManyValues(limit: Int(Int32.max)))
    }

    @Test func sharedTextCountsAsOftenAsItIsReferenced() {
        let file = File([File.array([Int](repeating: 1, count: 100)), File.text(String(repeating: "x", count: 1000))])
        #expect(fault(file.bytes, size: 100_000) == nil)
        #expect(fault(file.bytes, size: 99_999) == .tooMuchContent(limit: 99_999))
    }

    // 255 objects that are all the same array of 255: visiting each reference once would be 65,025 visits.
    @Test func overlappingObjectsAreWorkThatIsLimited() {
        var file = File([File.array(Array(1..<255)), File.array([Int](repeating: 255, count: 255))])
        file.objects.append(File.one)
        let starts = [8, 8 + file.objects[0].count]
        file.offsets = [starts[0]] + [Int](repeating: starts[1], count: 254) + [starts[1] + file.objects[1].count]
        file.count = 256
        file.referenceSize = 1
        #expect(fault(file.bytes, values: 254 * 256 + 1) == nil)
        #expect(fault(file.bytes, values: 2000) == .tooManyValues(limit: 2000))
    }

    @Test func depthIsThatOfTheWholeAlsoThroughSharedParts() {
        func chain(_ levels: Int) -> [[UInt8]] { (1..<levels).map { File.array([$0]) } + [File.array([])] }
        #expect(fault(File(chain(64)).bytes) == nil)
        #expect(fault(File(chain(65)).bytes) == .tooDeep(limit: 64))
        // The chain is already known when it occurs again one level down.
        let shared = [File.array([2, 1]), File.array([2])] + (3..<66).map { File.array([$0]) } + [File.array([])]
        #expect(fault(File(shared).bytes, depth: 66) == nil)
        #expect(fault(File(shared).bytes, depth: 65) == .tooDeep(limit: 65))
    }

    @Test func objectsAreCountedBeforeAnythingIsAllocated() {
        var file = File([File.one])
        file.offsets = [Int](repeating: 8, count: 101)
        file.count = 101
        #expect(fault(file.bytes, values: 100) == .tooManyValues(limit: 100))
        #expect(fault(file.bytes, values: 101) == nil)
    }

    @Test func valuesThatARecordCannotRepresentAreRefused() {
        #expect(isUnsupported([0x80, 1]))
        #expect(isUnsupported([0xC1, 1], File.one))
        #expect(isUnsupported(File.dictionary([(1, 1)]), File.one))
        #expect(isUnsupported([0x14] + File.big(1, 8) + File.big(0, 8)))
        #expect(fault(File([[0x14] + File.big(0, 8) + File.big(-1, 8)]).bytes) == nil)
        for date in [Double.nan, .infinity, -63_145_526_401, 252_423_993_600] {
            #expect(isUnsupported([0x33] + File.big(Int(truncatingIfNeeded: date.bitPattern), 8)))
        }
    }

    @Test func keysAreLimitedAndOtherTextsAreNot() {
        func dictionary(_ key: [UInt8], _ value: [UInt8] = File.one) -> StructureFault? {
            var file = File([File.dictionary([(1, 2)]), key, value])
            file.offsetSize = 4
            return fault(file.bytes)
        }
        func row(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        #expect(dictionary(File.text(row("x", 4096))) == nil)
        #expect(dictionary(File.text(row("x", 4097))) == .longKey)
        #expect(dictionary(File.text("a"), File.text(row("x", 5000))) == nil)
        #expect(dictionary(File.wide(row("é", 2048))) == nil)
        #expect(dictionary(File.wide(row("é", 2049))) == .longKey)
        #expect(dictionary(File.wide(row("嬢", 1365))) == nil)
        #expect(dictionary(File.wide(row("嬢", 1366))) == .longKey)
        #expect(dictionary(File.wide(row("😀", 1024))) == nil)
        #expect(dictionary(File.wide(row("😀", 1024) + "x")) == .longKey)
        #expect(dictionary(File.wide(row("x", 4097))) == .longKey)
    }

    @Test func marksInARowAreLimited() {
        let row = "a" + String(repeating: "\u{301}\u{316}", count: 15)
        #expect(fault(File([File.wide(row)]).bytes) == nil)
        #expect(fault(File([File.wide(row + "\u{301}")]).bytes) == .stackedMarks)
        let high = "a" + String(repeating: "\u{1D165}", count: 31)
        #expect(fault(File([File.wide(high)]).bytes) == .stackedMarks)
    }

    /// Files with one fault each.
    static let malformed: [(String, File)] = {
        var files: [(String, File)] = []
        func add(_ name: String, _ objects: [[UInt8]] = [File.one], _ change: (inout File) -> Void = { _ in }) {
            var file = File(objects)
            change(&file)
            files.append((name, file))
        }
        add("another header") { $0.header = Array("bplist01".utf8) }
        add("XML") { $0.header = Array("<?xml ve".utf8) }
        add("rubbish behind") { $0.tail = [0] }
        add("no objects", [[0x09]]) { ($0.count, $0.offsets) = (0, []) }
        add("more objects than offsets") { $0.count = 2 }
        add("a count that overflows") { $0.count = Int.max }
        add("a count beyond the sign") { $0.count = -1 }
        add("top out of range") { $0.top = 1 }
        add("table out of range") { $0.table = 1 << 40 }
        add("table in the header") { $0.table = 4 }
        add("offset size 0") { ($0.offsetSize, $0.offsets) = (0, [8]) }
        add("offset size 9") { ($0.offsetSize, $0.offsets) = (9, [8]) }
        add("reference size 0") { $0.referenceSize = 0 }
        add("reference size 9") { $0.referenceSize = 9 }
        add("offset in the header") { $0.offsets = [7] }
        add("offset in the table") { $0.offsets = [10] }
        add("an unused offset outside", [File.one, File.one]) { $0.offsets = [8, 4000] }
        add("reference out of range", [File.array([1])])
        add("unknown kind", [[0x70]])
        add("unknown constant", [[0x0F]])
        add("number cut", [[0x13, 0, 0]])
        add("number of 32 bytes", [[0x15] + [UInt8](repeating: 0, count: 32)])
        add("real of 2 bytes", [[0x21, 0, 0]])
        add("real cut", [[0x23, 0]])
        add("date of 4 bytes", [[0x32, 0, 0, 0, 0]])
        add("text cut", [[0x52, 0x61]])
        add("wide text cut", [[0x62, 0, 0x61]])
        add("text that is not ASCII", [[0x51, 0xFF]])
        add("data cut", [[0x42, 0]])
        add("array cut", [[0xA2, 0]])
        add("dictionary cut", [[0xD1, 0]])
        add("length that is text", [[0x5F, 0x51, 0x61]])
        add("length of 16 bytes", [[0x5F, 0x14] + [UInt8](repeating: 0, count: 16)])
        add("length without end", [[0xAF, 0x13] + [UInt8](repeating: 0xFF, count: 8)])
        add("length that overflows", [[0xDF, 0x13, 0x7F] + [UInt8](repeating: 0xFF, count: 7)])
        add("length missing", [[0xAF]])
        return files
    }()

    @Test(arguments: malformed.indices) func anInvalidPropertyListIsRefused(_ index: Int) {
        let (name, file) = Self.malformed[index]
        #expect(isMalformed(file), "\(name): \(String(describing: fault(file.bytes)))")
    }

    @Test func everyCutIsRefused() throws {
        let payload = Array(try Self.encoder.encode(["a": [1, 2], "b": [3]]))
        for count in 0..<payload.count { #expect(fault(Array(payload.prefix(count))) != nil, "\(count)") }
    }
}
