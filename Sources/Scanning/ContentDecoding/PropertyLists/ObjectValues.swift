/// Walks the objects of a binary property list and hands out their values.
///
/// Each container is entered once, so cycles end and shared references do not multiply. Small scalars that several keys
/// share are handed out once for each key, large ones up to a limit.
final class ObjectValues {
    let table: BinaryObjectTable
    let walk: ValueWalk
    private let form: CarrierForm
    private let source: any ByteSource
    private let nameBytes = ScratchBytes()
    private let wideBytes = ScratchBytes()
    private var met: NumberSet
    /// The number of bytes that may still be visited repeatedly.
    private var repeatable = 32 << 20
    /// Containers beyond the maximum depth, which are read on their own.
    private var deep: [Int] = []
    /// True if too many deep containers occurred to record all. Any unread object at the end may be one of them.
    private var hasLostDeepOnes = false
    /// The remaining references and fresh bytes. Each reference is followed once and contents do not overlap, so a
    /// valid file never uses them up.
    private var steps: Int
    private var fresh: Int
    /// True once they are used up. Nothing more is read.
    private var isOver = false
    private var notes = 0
    /// The cached keys, because lists repeat the same few keys in each element.
    private var keys: [Int: String] = [:]

    private static let mostDeep = 1 << 16
    /// The size above which a value is read like a file of its own.
    private static let largestValue = 8 << 20
    private static let longestKey = 1024
    private static let mostKeys = 1024
    /// The limit on members. A larger dictionary is not a record.
    private static let mostSiblings = 64
    /// The limit on notes per list, above the limit per file.
    private static let mostNotes = 32

    init(_ table: BinaryObjectTable, _ walk: ValueWalk, form: CarrierForm, source: any ByteSource) {
        self.table = table
        self.walk = walk
        self.form = form
        self.source = source
        met = NumberSet(below: table.objectCount)
        steps = 4 * table.bytes.count
        fresh = table.bytes.count
    }

    /// Reads all objects below the top object, then the unreferenced ones.
    func readAll() throws(CarrierFault) {
        try passing { () throws(CarrierFault) in try visit(table.top, name: nil, depth: 0) }
        try readDeep { object throws(CarrierFault) in try self.visit(object, name: nil, depth: 0) }
        try readUnused()
    }

    // MARK: Bookkeeping

    /// Runs `read`, notes damage, and continues.
    func passing(_ read: () throws(CarrierFault) -> Void) throws(CarrierFault) {
        let depth = walk.trail.depth
        do throws(CarrierFault) { try read() } catch {
            if case .exhausted = error { throw error }
            if case .unreadable = error { throw error }
            if isOver { throw error }
            notes += 1
            if notes <= Self.mostNotes { walk.note(error) }
            walk.trail.leave(to: depth)
        }
    }

    /// Charges for following a reference.
    func spendStep() throws(CarrierFault) {
        steps -= 1
        if steps & 0xFFF == 0 { try walk.budget.checkTime() }
        if steps < 0 { try giveUp() }
    }

    private func giveUp() throws(CarrierFault) {
        isOver = true
        throw .malformed("its objects overlap")
    }

    func mark(_ object: Int) { met.insert(object) }
    func isMet(_ object: Int) -> Bool { met.contains(object) }

    /// Returns whether to enter a container: on the first visit and within the maximum depth. Records deeper
    /// containers.
    func enters(_ object: Int, depth: Int) -> Bool {
        if met.contains(object) { return false }
        guard depth >= walk.budget.maximumDepth else { return met.insert(object) }
        if deep.count < Self.mostDeep { deep.append(object) } else { hasLostDeepOnes = true }
        return false
    }

    /// Reads the recorded deep containers, including those found while reading them.
    func readDeep(_ read: (Int) throws(CarrierFault) -> Void) throws(CarrierFault) {
        while let object = deep.popLast() {
            walk.trail.enter(.words("deeper than \(walk.budget.maximumDepth) levels"))
            try passing { () throws(CarrierFault) in try read(object) }
            walk.trail.leave()
        }
    }

    /// Reads unreferenced objects, which no program that opens the file sees.
    ///
    /// Containers come first, so that their contents are named by their keys.
    func readUnused() throws(CarrierFault) {
        for isContainer in [true, false] {
            for object in 0..<table.objectCount where !met.contains(object) && self.isContainer(object) == isContainer {
                walk.trail.enter(.words("unused object \(object)"))
                try walk.part(at: 0, presence: hasLostDeepOnes ? .live : .freed) { () throws(CarrierFault) in
                    try passing { () throws(CarrierFault) in try visit(object, name: nil, depth: 0) }
                    try readDeep { object throws(CarrierFault) in try visit(object, name: nil, depth: 0) }
                }
                walk.trail.leave()
            }
        }
    }

    /// Returns whether an object contains others. A damaged one does not.
    func isContainer(_ object: Int) -> Bool {
        switch try? table.object(object) {
        case .array, .dictionary: true
        default: false
        }
    }

    // MARK: Values

    /// Visits an object and all objects below it.
    func visit(_ object: Int, name: String?, depth: Int) throws(CarrierFault) {
        switch try parsed(object) {
        case .array(let list):
            guard enters(object, depth: depth) else { return }
            try elements(list, depth: depth)
        case .dictionary(let keys, let values):
            guard enters(object, depth: depth) else { return }
            let names = try names(keys, values)
            for index in 0..<keys.count {
                try passing { () throws(CarrierFault) in try member(index, keys, values, names, depth: depth) }
            }
        case let scalar: try visit(scalar, object, name: name)
        }
    }

    /// Parses an object. A damaged object counts as visited.
    private func parsed(_ object: Int) throws(CarrierFault) -> BinaryObject {
        do throws(CarrierFault) { return try table.object(object) } catch {
            if object < table.objectCount { met.insert(object) }
            throw error
        }
    }

    private func elements(_ list: BinaryObjectList, depth: Int) throws(CarrierFault) {
        for index in 0..<list.count {
            walk.trail.enter(.index(index))
            try passing { () throws(CarrierFault) in
                try spendStep()
                try visit(try table.element(index, of: list), name: nil, depth: depth + 1)
            }
            walk.trail.leave()
        }
    }

    private func member(
        _ index: Int, _ keys: BinaryObjectList, _ values: BinaryObjectList, _ names: SiblingNames, depth: Int
    ) throws(CarrierFault) {
        try spendStep()
        let key = try key(try table.element(index, of: keys))
        walk.trail.enter(.key(key))
        let sibling = names.called(key)
        if let words = sibling?.words { walk.trail.enter(.words(words)) }
        try visit(try table.element(index, of: values), name: sibling?.name ?? key, depth: depth + 1)
        if sibling?.words != nil { walk.trail.leave() }
        walk.trail.leave()
    }

    /// Returns the names that members of a dictionary give each other. Damaged members give none.
    private func names(_ keys: BinaryObjectList, _ values: BinaryObjectList) throws(CarrierFault) -> SiblingNames {
        var names = SiblingNames()
        guard 2...Self.mostSiblings ~= keys.count else { return names }
        for index in 0..<keys.count {
            try spendStep()
            do throws(CarrierFault) {
                let key = try self.key(try table.element(index, of: keys))
                names.learn(key: key) { self.shortText(try? table.element(index, of: values)) }
            } catch {
                guard case .malformed = error, !isOver else { throw error }
            }
        }
        return names
    }

    /// Returns a text that is short enough to be a name.
    func shortText(_ object: Int?) -> String? {
        guard let object, case .text(let range, let isWide)? = try? table.object(object),
            range.count <= SiblingNames.longestName * (isWide ? 2 : 1), let bytes = try? table.contents(range)
        else { return nil }
        guard isWide else { return String(decoding: bytes, as: UTF8.self) }
        return String(decoding: WidePropertyText.utf8(bytes, in: wideBytes), as: UTF8.self)
    }

    /// Returns the text of a key, truncated if very long, or `?` if the key is not text.
    func key(_ object: Int) throws(CarrierFault) -> String {
        if let known = keys[object] { return known }
        let key = try newKey(object)
        if keys.count < Self.mostKeys { keys[object] = key }
        return key
    }

    private func newKey(_ object: Int) throws(CarrierFault) -> String {
        let isNew = met.insert(object)
        guard case .text(let whole, let isWide) = try table.object(object) else { return "?" }
        let range = whole.prefix(Self.longestKey)
        let bytes = try table.contents(range)
        let text = isWide ? WidePropertyText.utf8(bytes, in: wideBytes) : bytes
        let key = String(decoding: text, as: UTF8.self)
        if isNew {
            fresh -= range.count
            if fresh < 0 { try giveUp() }
            try walk.visitName(text, range: isWide ? nil : Self.place(range), form: form)
        }
        return key
    }

    /// Visits an object that is not a container.
    func visit(_ scalar: BinaryObject, _ object: Int, name: String?) throws(CarrierFault) {
        guard try spend(scalar, isNew: met.insert(object)) else { return }
        let name = name.map { nameBytes.assign($0) }
        switch scalar {
        case .flag(let flag): try walk.visit(name: name, .flag(flag), range: nil, form: form)
        case .number(let number): try walk.visit(name: name, .number(number), range: nil, form: form)
        case .data(let range) where range.count > Self.largestValue,
            .text(let range, _) where range.count > Self.largestValue:
            try readLarge(range)
        case .data(let range):
            try walk.data(try table.contents(range), name: name, range: Self.place(range), form: form)
        case .text(let range, isWide: false):
            try walk.text(try table.contents(range), name: name, range: Self.place(range), form: form)
        case .text(let range, isWide: true):
            let text = WidePropertyText.utf8(try table.contents(range), in: wideBytes)
            try walk.text(text, name: name, range: Self.place(range), form: form, isVerbatim: false)
        case .null, .reference, .array, .dictionary: break
        }
    }

    /// Returns whether a scalar may be visited. Repeated visits are charged.
    private func spend(_ scalar: BinaryObject, isNew: Bool) throws(CarrierFault) -> Bool {
        switch scalar {
        case .data(let range), .text(let range, _):
            if isNew {
                fresh -= range.count
                if fresh < 0 { try giveUp() }
                return true
            }
            if range.count > 64 { repeatable -= range.count }
            return repeatable >= 0
        default: return true
        }
    }

    private func readLarge(_ range: Range<Int>) throws(CarrierFault) {
        let part = PartSource(source, Self.place(range))
        try walk.nested("value", at: Int64(range.lowerBound)) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(part), walk)
        }
    }

    private static func place(_ range: Range<Int>) -> Range<Int64> { Int64(range.lowerBound)..<Int64(range.upperBound) }
}

/// Reads binary property lists, every object once whether referenced or not, and keyed archives along the paths of the
/// archived objects.
package enum BinaryPropertyListValues: CarrierReader {
    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let table: BinaryObjectTable
        do throws(CarrierFault) { table = try BinaryObjectTable(input.source) } catch {
            guard case .malformed = error else { throw error }
            // Without the trailer the positions of the objects are unknown, but the objects may still be there.
            walk.note(error)
            return try BinaryReader.read(input, walk)
        }
        if let archive = try archive(table, input, walk) { return try archive.read() }
        try ObjectValues(table, walk, form: .binaryPropertyList, source: input.source).readAll()
    }

    /// Returns a keyed archive, or `nil` if the list is not one or is too damaged.
    private static func archive(
        _ table: BinaryObjectTable, _ input: CarrierInput, _ walk: ValueWalk
    ) throws(CarrierFault) -> KeyedArchive? {
        do throws(CarrierFault) { return try KeyedArchive(table, walk, source: input.source) } catch {
            guard case .malformed = error else { throw error }
            return nil
        }
    }
}

/// A set of numbers below a limit, with one bit for each.
struct NumberSet {
    private var words: [UInt64]

    init(below count: Int) { words = [UInt64](repeating: 0, count: (count + 63) / 64) }

    func contains(_ number: Int) -> Bool { words[number >> 6] & (1 << UInt64(number & 63)) != 0 }

    /// Adds a number. Returns `true` if the set did not contain it.
    @discardableResult
    mutating func insert(_ number: Int) -> Bool {
        let bit: UInt64 = 1 << UInt64(number & 63)
        defer { words[number >> 6] |= bit }
        return words[number >> 6] & bit == 0
    }
}
