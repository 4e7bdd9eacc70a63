/// Goes over the pixels of a JPEG without looking at them (ITU-T T.81, section B.1.1): no marker can be among them.
enum JPEGScans {
    private static let blockSize = 256 << 10

    /// Behind the end mark of the image; nil where there is none.
    ///
    /// - Parameter start: Of the marker of the first scan.
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

    /// The first marker that has a segment, or ends the image: neither a stuffed byte nor a restart.
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
