/// WebP (RFC 9649): Exif and XMP among the chunks.
enum WebPImage {
    static func read(_ source: any ByteSource, _ leaves: ImageLeaves) throws(CarrierFault) {
        let length = try source.bytes(at: 4, count: 4)
        let end = min(source.count, 8 + Int64(little(length)))
        var position: Int64 = 12
        while position + 8 <= end {
            try leaves.walk.budget.checkTime()
            let head = try source.bytes(at: position, count: 8)
            let size = Int64(little(Array(head.dropFirst(4))))
            let body = position + 8..<min(position + 8 + size, end)
            if head.starts(with: "EXIF".utf8) { try leaves.exif(source, body) }
            if head.starts(with: "XMP ".utf8), size > ImageLeaves.longest {
                leaves.noteLong("a text")
            } else if head.starts(with: "XMP ".utf8) {
                let text = try source.bytes(at: body.lowerBound, count: body.count)
                try leaves.block(text, in: "XMP", at: body.lowerBound)
            }
            position += 8 + size + size % 2
        }
        try leaves.trailing(source, from: max(end, 12))
    }

    private static func little(_ bytes: [UInt8]) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
}
