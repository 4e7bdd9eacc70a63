/// Hands out what an image says of itself.
struct ImageLeaves {
    let walk: LeafWalk
    /// Longer pieces are pixels, whatever they claim to be.
    static let longest = 8 << 20

    /// One value by its name, and what is nested in it.
    func text(_ text: [UInt8], named name: String, in group: String, at position: Int64?) throws(CarrierFault) {
        let text = text.last == 0 ? Array(text.prefix { $0 != 0 }) : text
        if text.isEmpty { return }
        try value(text, name, group) { (bytes, name) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: name, .text(bytes), range: range, form: .image)
            _ = try Carriers.readValue(bytes, isText: true, name: name, at: position, walk)
        }
    }

    /// Running text, such as XMP.
    func block(_ text: [UInt8], in group: String, at position: Int64?) throws(CarrierFault) {
        if text.isEmpty { return }
        try value(text, nil, group) { (bytes, _) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: nil, .block(bytes, line: 1), range: range, form: .image)
        }
    }

    /// Something that only a maker knows.
    func strings(_ bytes: [UInt8], in group: String, at position: Int64?) throws(CarrierFault) {
        if bytes.isEmpty { return }
        try value(bytes, nil, group) { (bytes, _) throws(CarrierFault) in
            let range = position.map { $0..<$0 + Int64(bytes.count) }
            try walk.visit(name: nil, .strings(bytes), range: range, form: .image)
        }
    }

    /// A part that a program keeps in the image for itself, whatever it is.
    func unknown(_ source: any ByteSource, _ range: Range<Int64>, called name: String) throws(CarrierFault) {
        if range.isEmpty { return }
        let part = PartSource(source, range)
        try walk.nested(name, at: range.lowerBound) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(part), walk)
        }
    }

    /// Notes a part that was passed over because of its size.
    func noteLong(_ what: String) { walk.note(.unsupported("\(what) in it is longer than 8 MiB")) }

    /// What follows the image's end in its file: no program that shows it looks there.
    func trailing(_ source: any ByteSource, from position: Int64) throws(CarrierFault) {
        guard position < source.count else { return }
        let rest = PartSource(source, position..<source.count)
        try walk.nested("after the image", at: position) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(rest), walk)
        }
    }

    /// The tags of Exif, which are those of a TIFF file.
    func exif(_ source: any ByteSource, _ range: Range<Int64>) throws(CarrierFault) {
        var range = range
        let head = try source.bytes(at: range.lowerBound, count: 6)
        if head == Array("Exif\0\0".utf8) { range = min(range.lowerBound + 6, range.upperBound)..<range.upperBound }
        let part = PartSource(source, range)
        do throws(CarrierFault) {
            try walk.part(at: range.lowerBound) { () throws(CarrierFault) in try TIFFImage.read(part, self) }
        } catch {
            guard case .malformed = error else { throw error }
            walk.note(error)
        }
    }

    private func value(
        _ bytes: [UInt8], _ name: String?, _ group: String,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) throws(CarrierFault) -> Void
    ) throws(CarrierFault) {
        let depth = walk.trail.depth
        walk.trail.enter(.words(group))
        if let name { walk.trail.enter(.key(name)) }
        defer { walk.trail.leave(to: depth) }
        let called = Array((name ?? "").utf8)
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try called.span.withUnsafeBytes { called throws(CarrierFault) in
                try body(bytes, name == nil ? nil : called)
            }
        }
    }
}
