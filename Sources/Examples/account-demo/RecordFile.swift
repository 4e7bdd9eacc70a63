internal import FoundationEssentials
internal import Glibc

/// The shared record as it lies in the container, in the hands of somebody who may write there and has no key.
struct RecordFile {
    static let name = "widget_auth_state"
    /// Below the container, as the audit names it.
    static let place = "Library/Application Support/Records/\(name).sealed"

    /// Header of a blob, in bytes; what follows are its sealed contents.
    private static let headerSize = 176

    private let path: String
    private let draft: String

    init(home: DemoHome) {
        path = "\(home.container)/\(Self.place)"
        draft = "\(home.path)/draft"
    }

    func bytes() throws(Stop) -> Data {
        do { return try Data(contentsOf: URL(filePath: path)) } catch { throw .broken("\(path) cannot be read") }
    }

    /// Puts other bytes in the record's place. They come whole, by a rename, so that the widget refuses what they are
    /// and not that half of them is missing.
    func replace(with bytes: Data) throws(Stop) {
        do { try bytes.write(to: URL(filePath: draft)) } catch { throw .broken("\(draft) cannot be written") }
        // As private as what it replaces, so that its contents are all that is wrong with it.
        chmod(draft, 0o600)
        guard rename(draft, path) == 0 else { throw .broken("\(path) cannot be replaced") }
    }

    /// The blob with the lowest bit of one byte of its contents flipped, and which byte it is.
    static func flipped(_ blob: Data) throws(Stop) -> (blob: Data, offset: Int) {
        let offset = headerSize + 8
        guard blob.count > offset else { throw .broken("the blob has \(blob.count) bytes only") }
        var blob = blob
        blob[offset] ^= 1
        return (blob, offset)
    }
}
