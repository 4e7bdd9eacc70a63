internal import PropertyLists

/// Reads property lists in OpenStep's notation, such as `.strings` files; from where it is none, as running text.
package enum OpenStepPropertyListLeaves: CarrierReader {
    /// Larger ones are read as running text.
    private static let largest = 16 << 20

    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: Carriers.headSize)
        if UTF16Reader.order(of: head) != nil { return try UTF16Reader.read(input, walk) }
        guard input.source.count <= largest else { return try TextReader.read(input, walk) }
        let bytes = try input.source.bytes(at: 0, count: largest)
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in try read(bytes, walk) }
    }

    private static func read(_ bytes: UnsafeRawBufferPointer, _ walk: LeafWalk) throws(CarrierFault) {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = UnsafeRawBufferPointer(rebasing: bytes[mark...])
        let depth = walk.trail.depth
        try walk.part(at: Int64(mark)) { () throws(CarrierFault) in
            var leaves = OpenStepLeaves(text, walk)
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
