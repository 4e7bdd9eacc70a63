internal import PropertyLists

/// The values of an OpenStep property list and the trail to them.
struct OpenStepValues {
    private struct Container {
        let isDictionary: Bool
        var index = 0
        var members = StreamedMembers(form: .openStepPropertyList)
    }

    private let text: UnsafeRawBufferPointer
    private let walk: ValueWalk
    private var scanner: OpenStepScanner
    private var open: [Container] = []
    private var key: String?
    /// The position of the current member or element.
    private var start = 0
    /// True if the outermost dictionary has no braces.
    private var isBare = false
    private let deepestWay: Int
    private let names = ScratchBytes()
    private let texts = ScratchBytes()

    init(_ text: UnsafeRawBufferPointer, _ walk: ValueWalk) {
        self.text = text
        self.walk = walk
        scanner = OpenStepScanner(text)
        deepestWay = walk.budget.maximumDepth
    }

    /// - Returns: The position of the rest that is not a property list, or `nil` at the end.
    mutating func read() throws(CarrierFault) -> Int? {
        let rest = try readParts()
        while let last = open.popLast() { try leave(last) }
        return rest
    }

    private mutating func readParts() throws(CarrierFault) -> Int? {
        guard try skipSpace() else { return start }
        isBare = beginsBare()
        if isBare { open.append(Container(isDictionary: true)) }
        while true {
            guard try skipSpace() else { return start }
            if scanner.cursor.isAtEnd { return nil }
            if key == nil { start = scanner.cursor.position }
            guard try takeNext() else { return start }
        }
    }

    private mutating func attempt<Result>(_ read: (inout OpenStepScanner) throws(StructureFault) -> Result) -> Result? {
        do throws(StructureFault) { return try read(&scanner) } catch { return nil }
    }

    /// Skips white space and visits the comments in it.
    private mutating func skipSpace() throws(CarrierFault) -> Bool {
        let lower = scanner.cursor.position
        guard attempt({ reader throws(StructureFault) in try reader.skipSpace() }) != nil else { return false }
        let upper = scanner.cursor.position
        guard upper - lower >= 8, text[lower..<upper].contains(UInt8(ascii: "/")) else { return true }
        let comment = UnsafeRawBufferPointer(rebasing: text[lower..<upper])
        let line = 1 + LineCount.newlines(in: UnsafeRawBufferPointer(rebasing: text[..<lower]))
        try walk.visit(
            name: nil, .block(comment, line: line), range: Int64(lower)..<Int64(upper), form: .openStepPropertyList)
        return true
    }

    /// Returns whether the text begins with the first key of a dictionary without braces: a string with more text after
    /// it.
    private func beginsBare() -> Bool {
        guard let byte = scanner.cursor.byte, !"{(<".utf8.contains(byte) else { return false }
        var ahead = scanner
        do throws(StructureFault) {
            _ = try ahead.string()
            try ahead.skipSpace()
        } catch { return false }
        return !ahead.cursor.isAtEnd
    }

    // MARK: Parts

    private mutating func takeNext() throws(CarrierFault) -> Bool {
        let isKeyExpected = open.last?.isDictionary == true && key == nil
        if scanner.take(";") || scanner.take(",") { return open.last != nil && key == nil }
        if scanner.take("}") { return key == nil ? try leave(isDictionary: true) : false }
        if scanner.take(")") { return try leave(isDictionary: false) }
        if isKeyExpected { return try takeKey() }
        if scanner.take("{") { return enter(isDictionary: true) }
        if scanner.take("(") { return enter(isDictionary: false) }
        return try takeScalar()
    }

    private mutating func takeKey() throws(CarrierFault) -> Bool {
        guard let text = attempt({ reader throws(StructureFault) in try reader.string() }) else { return false }
        key = text
        try walk.visitName(names.assign(text), form: .openStepPropertyList)
        guard try skipSpace() else { return false }
        if scanner.take("=") { return true }
        // A key without a value is its own value.
        guard scanner.cursor.byte == UInt8(ascii: ";") else { return false }
        try visit(text, 0..<0)
        return true
    }

    private mutating func takeScalar() throws(CarrierFault) -> Bool {
        let begin = scanner.cursor.position
        if scanner.take("<") {
            guard let data = attempt({ reader throws(StructureFault) in try reader.data() }) else { return false }
            let range = Int64(begin)..<Int64(scanner.cursor.position)
            step()
            try data.span.withUnsafeBytes { data throws(CarrierFault) in
                try visit(.data(data, isVerbatim: false), range)
            }
            stepBack()
            return true
        }
        guard let text = attempt({ reader throws(StructureFault) in try reader.string() }) else { return false }
        try visit(text, begin..<scanner.cursor.position)
        return true
    }

    private mutating func visit(_ text: String, _ range: Range<Int>) throws(CarrierFault) {
        step()
        let place = range.isEmpty ? nil : Int64(range.lowerBound)..<Int64(range.upperBound)
        try visit(.text(texts.assign(text), isVerbatim: false), place)
        stepBack()
    }

    private mutating func visit(_ value: StreamedMembers.Value, _ range: Range<Int64>?) throws(CarrierFault) {
        let name = key.map { names.assign($0) }
        guard let name, !open.isEmpty, open.count <= deepestWay else {
            return try value.visit(name: name, range, form: .openStepPropertyList, walk)
        }
        try open[open.count - 1].members.take(value, key: name, range: range, walk)
    }

    // MARK: Trail

    private mutating func enter(isDictionary: Bool) -> Bool {
        step()
        open.append(Container(isDictionary: isDictionary))
        key = nil
        return true
    }

    private mutating func leave(isDictionary: Bool) throws(CarrierFault) -> Bool {
        guard let last = open.last, last.isDictionary == isDictionary, !(open.count == 1 && isBare) else {
            return false
        }
        open.removeLast()
        try leave(last)
        return true
    }

    /// Leaves the innermost container.
    private mutating func leave(_ container: Container) throws(CarrierFault) {
        var members = container.members
        try members.end(walk)
        stepBack()
    }

    private func step() {
        guard let last = open.last, open.count <= deepestWay else { return }
        walk.trail.enter(last.isDictionary ? .key(key ?? "?") : .index(last.index))
    }

    private mutating func stepBack() {
        key = nil
        guard !open.isEmpty else { return }
        if open.count <= deepestWay { walk.trail.leave() }
        open[open.count - 1].index += 1
    }
}

/// Reads property lists in OpenStep notation, such as `.strings` files. From the first invalid part on, reads running
/// text.
package enum OpenStepPropertyListValues: CarrierReader {
    /// The size limit. Larger files are read as running text.
    private static let largest = 16 << 20

    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: Carriers.headSize)
        if UTF16Reader.order(of: head) != nil { return try UTF16Reader.read(input, walk) }
        guard input.source.count <= largest else { return try TextReader.read(input, walk) }
        let bytes = try input.source.bytes(at: 0, count: largest)
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in try read(bytes, walk) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ walk: ValueWalk) throws(CarrierFault) {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = UnsafeRawBufferPointer(rebasing: bytes[mark...])
        let depth = walk.trail.depth
        try walk.part(at: Int64(mark)) { () throws(CarrierFault) in
            var leaves = OpenStepValues(text, walk)
            guard let rest = try leaves.read() else { return }
            walk.trail.leave(to: depth)
            let part = UnsafeRawBufferPointer(rebasing: text[rest...])
            let line = 1 + LineCount.newlines(in: UnsafeRawBufferPointer(rebasing: text[..<rest]))
            try walk.part(at: Int64(rest)) { () throws(CarrierFault) in
                try TextReader.read(
                    CarrierInput(BorrowedSource(part)), walk, form: .openStepPropertyList, firstLine: line)
            }
        }
    }
}
