/// Builds a message or registration: little-endian numbers, and texts with their length before them.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func write(_ text: String) {
        write(UInt16(truncatingIfNeeded: text.utf8.count))
        bytes += text.utf8
    }
}

/// Reads what another process wrote: nil where it says more than is there.
struct MessageReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size).reversed().reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func readText(atMost limit: Int) -> String? {
        guard let count = read(UInt16.self), count <= limit, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return String(validating: rest.prefix(Int(count)), as: UTF8.self)
    }

    mutating func readItem() -> ItemPath? {
        readText(atMost: ItemPath.maximumLength).flatMap { ItemPath(claimed: $0) }
    }

    /// - Parameter limit: a larger count is refused before anything is allocated.
    mutating func readList<Element>(
        atMost limit: Int, _ element: (inout MessageReader) -> Element?
    ) -> [Element]? {
        guard let count = read(UInt16.self), count <= limit else { return nil }
        var list: [Element] = []
        for _ in 0..<count {
            guard let next = element(&self) else { return nil }
            list.append(next)
        }
        return list
    }
}
