/// Reads JPEG (ITU-T T.81): Exif, XMP, IPTC and comments in the segments before the first scan.
enum JPEGImage {
    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        var position: Int64 = 2
        while position + 4 <= source.count {
            try leaves.walk.budget.checkTime()
            let head = CarrierBytes(try source.bytes(at: position, count: 4))
            guard head[0] == 0xFF else { throw .malformed("segments that do not hang together") }
            let marker = head[1]
            // Skips fill bytes before a marker, and markers without a segment.
            if marker == 0xFF || marker == 0x01 || (0xD0...0xD8).contains(marker) {
                position += marker == 0xFF ? 1 : 2
                continue
            }
            if marker == 0xD9 { return try leaves.trailing(source, from: position + 2) }
            if marker == 0xDA { return try afterScan(source, from: position, leaves) }
            let length = Int64(max(2, head.short(at: 2)))
            try segment(marker, source, position + 4..<position + 2 + length, leaves)
            position += 2 + length
        }
        leaves.walk.note(.malformed("the image ends before its pixels"))
    }

    /// Reads the bytes that follow the image in its file. Pixels are skimmed only if the file does not end with an end
    /// marker.
    private static func afterScan(
        _ source: any ByteSource, from start: Int64, _ leaves: ImageLeaves
    ) throws(CarrierFault) {
        let ending = try source.bytes(at: max(start, source.count - 2), count: 2)
        if ending == [0xFF, 0xD9] { return }
        guard let end = try JPEGScans.end(source, from: start, leaves.walk) else {
            return leaves.walk.note(.malformed("the image ends before its end mark"))
        }
        try leaves.trailing(source, from: end)
    }

    private static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    private static let moreXMP = Array("http://ns.adobe.com/xmp/extension/\0".utf8)

    private static func segment(
        _ marker: UInt8, _ source: any ByteSource, _ range: Range<Int64>, _ leaves: ImageLeaves
    ) throws(CarrierFault) {
        guard marker == 0xFE || (0xE0...0xEF).contains(marker) else { return }
        let body = try source.bytes(at: range.lowerBound, count: range.count)
        if marker == 0xFE { return try leaves.text(body, named: "Comment", in: "JPEG", at: range.lowerBound) }
        let after = { (start: [UInt8], more: Int) in
            (bytes: Array(body.dropFirst(start.count + more)), at: range.lowerBound + Int64(start.count + more))
        }
        if body.starts(with: "Exif\0\0".utf8) {
            try leaves.exif(source, range)
        } else if body.starts(with: xmp) {
            try leaves.block(after(xmp, 0).bytes, in: "XMP", at: after(xmp, 0).at)
        } else if body.starts(with: moreXMP) {
            // A digest, the whole length and this part's offset come first.
            try leaves.block(after(moreXMP, 40).bytes, in: "XMP", at: after(moreXMP, 40).at)
        } else if body.starts(with: "Photoshop 3.0\0".utf8) {
            try IPTCRecords.readResources(CarrierBytes(body), leaves, at: range.lowerBound)
        } else if !body.starts(with: "ICC_PROFILE\0".utf8), !body.starts(with: "JFIF\0".utf8) {
            try leaves.strings(body, in: "segment APP\(marker - 0xE0)", at: range.lowerBound)
        }
    }
}

/// Skips the pixels of a JPEG, which contain no markers (ITU-T T.81, section B.1.1).
enum JPEGScans {
    private static let blockSize = 256 << 10

    /// Returns the offset after the image's end marker, or `nil` if the marker is missing.
    ///
    /// - Parameter start: The offset of the first scan's marker.
    static func end(_ source: any ByteSource, from start: Int64, _ walk: LeafWalk) throws(CarrierFault) -> Int64? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 64)
        defer { buffer.deallocate() }
        var position = start
        while let data = source.nextData(from: position), data + 2 <= source.count {
            position = data
            try walk.budget.checkTime()
            let block = UnsafeRawBufferPointer(rebasing: buffer[..<(try source.read(at: position, into: buffer))])
            guard block.count >= 2 else { return nil }
            guard let index = marker(in: block) else {
                // The last byte may begin a marker.
                position += Int64(block.count - 1)
                continue
            }
            position += Int64(index)
            if block[index + 1] == 0xD9 { return position + 2 }
            let length = CarrierBytes(try source.bytes(at: position + 2, count: 2))
            position += 2 + Int64(max(2, length.short(at: 0)))
        }
        return nil
    }

    /// Returns the offset of the first marker that has a segment or ends the image, which excludes stuffed bytes and
    /// restart markers.
    private static func marker(in block: UnsafeRawBufferPointer) -> Int? {
        var index = 0
        while let next = block[index..<(block.count - 1)].firstIndex(of: 0xFF) {
            if block[next + 1] >= 0xC0, block[next + 1] != 0xFF, !(0xD0...0xD8).contains(block[next + 1]) {
                return next
            }
            index = next + 1
        }
        return nil
    }
}
