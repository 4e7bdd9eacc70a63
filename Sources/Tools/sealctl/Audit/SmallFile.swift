internal import CryptoPrimitives
internal import SharedFiles

/// Files that a person wrote or keeps: read whole.
enum SmallFile {
    /// - Parameter limit: More bytes than this are refused.
    static func read(_ path: String, limit: Int = 64 << 20) throws(Failure) -> [UInt8] {
        let input = try InputFile(path)
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try Failure.onFiles { () throws(FileError) in
                var span = block.mutableSpan
                return try span.withUnsafeMutableBytes { buffer throws(FileError) in try input.read(into: buffer) }
            }
            if count == 0 { return bytes }
            bytes += block[..<count]
            guard bytes.count <= limit else {
                throw Failure(
                    .dataError, "tooLarge", "\(path) is larger than \(ByteText.text(Int64(limit)))",
                    hint: "Name another file.")
            }
        }
    }
}
