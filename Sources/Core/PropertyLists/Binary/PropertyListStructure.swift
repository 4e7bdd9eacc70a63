/// A check of a binary property list's structure before the decoder sees it.
///
/// Its objects refer to each other by number, so an object may be shared, contain itself, or double with each level:
/// 115 bytes can represent a billion values. Shared objects are therefore counted once for each reference, from totals
/// that are computed once for each object. The check does not recurse, and its time and memory stay within the limits.
package struct PropertyListStructure {
    private let bytes: UnsafeRawBufferPointer
    private let limits: StructureLimits
    private let table: PropertyListTable
    private var totals: [Total]
    private var open: [Container] = []
    private var visits = 0
    private var content = 0

    /// The totals of an object with all of its contents.
    private struct Total {
        enum State: UInt8 { case unseen, open, known }
        var content = 0
        var values: UInt32 = 0
        /// The number of levels of containers, including its own.
        var height: UInt16 = 0
        var state = State.unseen
    }

    /// A container on the path from the top object to the current one.
    private struct Container {
        let object: Int
        let references: Int
        let count: Int
        /// The number of references to keys.
        let keys: Int
        var next = 0
    }

    /// - Throws: `StructureFault`.
    package static func check(
        _ bytes: UnsafeRawBufferPointer, against limits: StructureLimits
    ) throws(StructureFault) {
        var structure = try PropertyListStructure(bytes, limits)
        try structure.scan()
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ limits: StructureLimits) throws(StructureFault) {
        self.bytes = bytes
        self.limits = limits
        table = try PropertyListTable(bytes)
        // Before anything is allocated for them.
        guard table.trailer.objectCount <= limits.values else { throw .tooManyValues(limit: limits.values) }
        totals = [Total](repeating: Total(), count: table.trailer.objectCount)
    }

    private mutating func scan() throws(StructureFault) {
        // Also entries that nothing refers to: the decoder looks at them.
        for object in 0..<table.trailer.objectCount { _ = try table.offset(of: object) }
        try visit(table.trailer.top)
        while let container = open.last {
            guard container.next < container.count else {
                try leave(container)
                continue
            }
            open[open.count - 1].next += 1
            let child = try table.reference(container.next, from: container.references)
            if container.next < container.keys { try requireKey(child) }
            try visit(child)
        }
    }

    private mutating func visit(_ object: Int) throws(StructureFault) {
        // Each visited object is part of the whole at least once, so this limit is never too strict. It also bounds the
        // work while totals are not known yet.
        visits += 1
        guard visits <= limits.values else { throw .tooManyValues(limit: limits.values) }
        switch totals[object].state {
        case .open: throw .cycle
        case .known: try add(object)
        case .unseen: try enter(object)
        }
    }

    private mutating func enter(_ object: Int) throws(StructureFault) {
        switch try table.object(object) {
        case .scalar: try settle(object, content: 0)
        case .data(let range): try settle(object, content: range.count)
        case .text(let range, let isWide):
            try settle(object, content: range.count)
            try checkText(range, isWide: isWide)
        case .array(let count, let references):
            try push(Container(object: object, references: references, count: count, keys: 0))
        case .dictionary(let count, let references):
            try push(Container(object: object, references: references, count: 2 * count, keys: count))
        }
    }

    /// Settles an object that contains no others.
    private mutating func settle(_ object: Int, content size: Int) throws(StructureFault) {
        // Objects may overlap, so their contents are read only while their sum is within the limit.
        content += size
        guard content <= limits.size else { throw .tooMuchContent(limit: limits.size) }
        totals[object] = Total(content: size, values: 1, height: 0, state: .known)
        try add(object)
    }

    private mutating func push(_ container: Container) throws(StructureFault) {
        guard open.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
        open.append(container)
        totals[container.object] = Total(content: 0, values: 1, height: 1, state: .open)
    }

    private mutating func leave(_ container: Container) throws(StructureFault) {
        open.removeLast()
        totals[container.object].state = .known
        try add(container.object)
    }

    /// Adds an object's total to that of the container that refers to it. Both are within the limits before, so the sum
    /// cannot overflow.
    private mutating func add(_ object: Int) throws(StructureFault) {
        guard let parent = open.last?.object else { return }
        let child = totals[object]
        guard open.count + Int(child.height) <= limits.depth else { throw .tooDeep(limit: limits.depth) }
        totals[parent].height = max(totals[parent].height, child.height + 1)
        totals[parent].values += child.values
        totals[parent].content += child.content
        guard Int(totals[parent].values) <= limits.values else { throw .tooManyValues(limit: limits.values) }
        guard totals[parent].content <= limits.size else { throw .tooMuchContent(limit: limits.size) }
    }

    private func requireKey(_ object: Int) throws(StructureFault) {
        guard case .text(let range, let isWide) = try table.object(object) else {
            throw .unsupported("a key that is not text")
        }
        // No unit of UTF-16 has more than 3 bytes as UTF-8: most wide keys are not looked at.
        let units = isWide ? range.count / 2 : range.count
        guard units <= StructureLimits.longestKey else { throw .longKey }
        guard isWide, 3 * units > StructureLimits.longestKey else { return }
        let size = stride(from: range.lowerBound, to: range.upperBound, by: 2).reduce(0) { size, position in
            let unit = UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1])
            // Each half of a surrogate pair counts as two bytes.
            return size + (0xD800..<0xE000 ~= unit ? 2 : StructureLimits.size(of: unit))
        }
        guard size <= StructureLimits.longestKey else { throw .longKey }
    }

    private func checkText(_ range: Range<Int>, isWide: Bool) throws(StructureFault) {
        guard isWide else {
            guard bytes[range].allSatisfy({ $0 < 0x80 }) else { throw .malformed("a text is not ASCII") }
            return
        }
        var run = MarkRun()
        var high: UInt32?
        for position in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let unit = UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1])
            if 0xD800..<0xDC00 ~= unit {
                high = unit
                continue
            }
            var scalar = unit
            if let high, 0xDC00..<0xE000 ~= unit { scalar = 0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00) }
            high = nil
            if run.exceeds(with: scalar) { throw .stackedMarks }
        }
    }
}
