public import ArgumentParser
public import AuditReports
internal import CryptoPrimitives
internal import SharedFiles

extension AuditFormat: ExpressibleByArgument {}

/// A report that goes to a file or stream, in blocks.
final class ReportFile: ReportSink {
    private static let capacity = 1 << 16

    private let file: OutputFile
    private var buffer: [UInt8] = []
    /// The first one; what comes after it is not written.
    private var error: FileError?

    init(_ file: OutputFile) {
        self.file = file
        buffer.reserveCapacity(Self.capacity)
    }

    func write(_ text: String) {
        buffer += text.utf8
        if buffer.count >= Self.capacity { flush() }
    }

    /// Writes what is left and gives the file its name.
    func finish() throws(Failure) {
        flush()
        if let error { throw Failure(error, .output) }
        try file.commit()
    }

    private func flush() {
        defer { buffer.removeAll(keepingCapacity: true) }
        guard error == nil else { return }
        do throws(FileError) {
            try buffer.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
        } catch { self.error = error }
    }
}
