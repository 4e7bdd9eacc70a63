internal import PropertyLists

/// The values of an XML property list and the trail to them.
struct XMLValues {
    /// The start of text that is not a property list.
    struct Rest {
        let position: Int
        let line: Int
    }

    private struct Container {
        let isDictionary: Bool
        var index = 0
        var members = StreamedMembers(form: .xmlPropertyList)
    }

    private let text: UnsafeRawBufferPointer
    private let walk: ValueWalk
    private var scanner: XMLScanner
    private var open: [Container] = []
    private let names = ScratchBytes()
    private var hasKey = false
    private let deepestWay: Int
    /// The position up to which lines were counted, and its line.
    private var counted = (position: 0, line: 1)
    /// The position of the current element.
    private var start = 0

    init(_ text: UnsafeRawBufferPointer, encoding: PropertyListText.Encoding, _ walk: ValueWalk) {
        self.text = text
        self.walk = walk
        scanner = XMLScanner(text, encoding: encoding)
        deepestWay = walk.budget.maximumDepth
    }

    /// - Returns: The start of the rest that is not a property list, or `nil` at the end.
    mutating func read() throws(CarrierFault) -> Rest? {
        let rest = try readElements()
        while let last = open.popLast() { try leave(last) }
        return rest
    }

    private mutating func readElements() throws(CarrierFault) -> Rest? {
        guard attempt({ reader throws(StructureFault) in try reader.prolog() }) != nil else { return rest() }
        try visitGap(from: 0, to: scanner.cursor.position)
        while true {
            let gap = scanner.cursor.position
            guard attempt({ reader throws(StructureFault) in try reader.skipMiscellany() }) != nil else {
                return rest()
            }
            try visitGap(from: gap, to: scanner.cursor.position)
            start = scanner.cursor.position
            guard let next = attempt({ reader throws(StructureFault) in try reader.tag() }) else { return rest() }
            guard let tag = next else { return nil }
            guard try take(tag) else { return rest() }
        }
    }

    private mutating func attempt<Result>(_ read: (inout XMLScanner) throws(StructureFault) -> Result) -> Result? {
        do throws(StructureFault) { return try read(&scanner) } catch { return nil }
    }

    private mutating func rest() -> Rest { Rest(position: start, line: line(at: start)) }

    /// Returns the line of a position. Positions must ascend.
    private mutating func line(at position: Int) -> Int {
        let stretch = UnsafeRawBufferPointer(rebasing: text[counted.position..<max(position, counted.position)])
        counted = (max(position, counted.position), counted.line + LineCount.newlines(in: stretch))
        return counted.line
    }

    /// Visits comments and instructions between elements.
    private mutating func visitGap(from lower: Int, to upper: Int) throws(CarrierFault) {
        guard upper - lower >= 8, text[lower..<upper].contains(UInt8(ascii: "!")) else { return }
        let gap = UnsafeRawBufferPointer(rebasing: text[lower..<upper])
        guard ByteText.lastRange(of: Array("<!--".utf8), in: gap[...]) != nil else { return }
        try walk.visit(
            name: nil, .block(gap, line: line(at: lower)), range: Int64(lower)..<Int64(upper), form: .xmlPropertyList)
    }

    // MARK: Elements

    /// Reads one tag, and the element if it is a scalar. Returns `false` if the tag is not valid here.
    private mutating func take(_ tag: XMLTag) throws(CarrierFault) -> Bool {
        switch tag {
        case .start(.plist): return open.isEmpty
        case .end(.plist): return open.isEmpty
        case .start(.dict), .start(.array):
            step()
            open.append(Container(isDictionary: isDictionary(tag)))
            hasKey = false
            return true
        case .end(.dict), .end(.array):
            guard let last = open.last, last.isDictionary == isDictionary(tag) else { return false }
            open.removeLast()
            try leave(last)
            return true
        case .start(let element):
            let begin = scanner.cursor.position
            guard let text = attempt({ reader throws(StructureFault) in try reader.text(of: element) }) else {
                return false
            }
            try takeElement(element, text, begin)
            return true
        case .empty(let element):
            try takeEmpty(element)
            return true
        case .end: return false
        }
    }

    private mutating func takeEmpty(_ element: XMLElement) throws(CarrierFault) {
        switch element {
        case .key: try takeKey(UnsafeRawBufferPointer(start: nil, count: 0), nil)
        case .yes, .no: try flag(element == .yes)
        case .plist: break
        case .string:
            step()
            let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
            try walk.visit(name: name, .text(nothing), range: nil, form: .xmlPropertyList)
            stepBack()
        default:
            step()
            stepBack()
        }
    }

    private func isDictionary(_ tag: XMLTag) -> Bool {
        switch tag {
        case .start(.dict), .end(.dict): true
        default: false
        }
    }

    private mutating func takeElement(_ element: XMLElement, _ text: XMLText, _ begin: Int) throws(CarrierFault) {
        switch text {
        case .run(let run):
            try takeElement(element, run, Int64(begin)..<Int64(begin + run.count), isVerbatim: true)
        case .pieces(let pieces):
            let range = Int64(begin)..<Int64(scanner.cursor.position)
            try pieces.span.withUnsafeBytes { pieces throws(CarrierFault) in
                try takeElement(element, pieces, range, isVerbatim: false)
            }
        }
    }

    private mutating func takeElement(
        _ element: XMLElement, _ text: UnsafeRawBufferPointer, _ range: Range<Int64>, isVerbatim: Bool
    ) throws(CarrierFault) {
        switch element {
        case .key: try takeKey(text, range)
        case .yes, .no: try flag(element == .yes)
        default:
            step()
            try visit(element, text, range, isVerbatim: isVerbatim)
            stepBack()
        }
    }

    /// Visits a scalar. Content that does not fit its element is visited as text.
    private mutating func visit(
        _ element: XMLElement, _ text: UnsafeRawBufferPointer, _ range: Range<Int64>, isVerbatim: Bool
    ) throws(CarrierFault) {
        if element == .data, let data = LetterCoding.base64.decode(text) {
            return try data.span.withUnsafeBytes { data throws(CarrierFault) in
                try visit(.data(data, isVerbatim: false), range)
            }
        }
        if let number = Self.number(element, text) {
            return try visit(.number(number), range)
        }
        try visit(.text(text, isVerbatim: isVerbatim), range)
    }

    private mutating func visit(_ value: StreamedMembers.Value, _ range: Range<Int64>?) throws(CarrierFault) {
        guard hasKey, !open.isEmpty, open.count <= deepestWay else {
            return try value.visit(name: name, range, form: .xmlPropertyList, walk)
        }
        try open[open.count - 1].members.take(value, key: names.bytes, range: range, walk)
    }

    private static func number(_ element: XMLElement, _ text: UnsafeRawBufferPointer) -> Double? {
        switch element {
        case .integer, .real:
            guard text.count <= 400 else { return nil }
            return Double(String(decoding: text.filter { !XMLScanner.isSpace($0) }, as: UTF8.self))
        case .date: return CivilTime(text).map { Double($0.secondsSince1970) }
        default: return nil
        }
    }

    private mutating func flag(_ flag: Bool) throws(CarrierFault) {
        step()
        try visit(.flag(flag), nil)
        stepBack()
    }

    // MARK: Trail

    private var name: UnsafeRawBufferPointer? { hasKey ? names.bytes : nil }

    private mutating func takeKey(_ text: UnsafeRawBufferPointer, _ range: Range<Int64>?) throws(CarrierFault) {
        names.removeAll()
        names.append(text)
        hasKey = true
        try walk.visitName(text, range: range, form: .xmlPropertyList)
    }

    /// Enters the trail step of the next value, unless it exceeds the maximum depth.
    private func step() {
        guard let last = open.last, open.count <= deepestWay else { return }
        if last.isDictionary {
            walk.trail.enter(.key(hasKey ? String(decoding: names.bytes, as: UTF8.self) : "?"))
        } else {
            walk.trail.enter(.index(last.index))
        }
    }

    /// Leaves the innermost container.
    private mutating func leave(_ container: Container) throws(CarrierFault) {
        var members = container.members
        try members.end(walk)
        stepBack()
    }

    /// Leaves the trail step of a value that was read.
    private mutating func stepBack() {
        hasKey = false
        guard !open.isEmpty else { return }
        if open.count <= deepestWay { walk.trail.leave() }
        open[open.count - 1].index += 1
    }
}
