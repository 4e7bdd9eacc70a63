import AppGroups
import CryptoPrimitives
import Glibc
import KeyVault
import SealedState
import Sealing
import SharedFiles

/// A sealed file, against a stream and a plain file of the same bytes; and the memory of programs that write and read
/// one.
struct FileBenchmarks {
    private static let memoryFileSystem = "/dev/shm"
    /// The programs' contents have at least this number of MiB.
    private static let smallestOfPrograms = 1024
    private static let largestMemory = 32.0 * 1_048_576

    private let parent: String
    private let mebibytes: Int
    private let sealctl = Program.directory + "/sealctl"

    /// - Parameters:
    ///   - parent: The directory whose file system stores the durable file.
    ///   - mebibytes: The size of the contents.
    init(in parent: String, mebibytes: Int) {
        self.parent = parent
        self.mebibytes = mebibytes
    }

    private var title: String { "a sealed file of \(mebibytes) MiB" }
    private var writing: String { "write \(title)" }
    private var reading: String { "read \(title)" }
    private var readingPart: String { "read 64 KiB of \(title)" }
    private var writingDurably: String { "write \(title), durable" }
    private var writingMemory: String { "write a sealed file of \(ofPrograms) MiB: memory" }
    private var readingMemory: String { "read a sealed file of \(ofPrograms) MiB: memory" }
    private var ofPrograms: Int { max(Self.smallestOfPrograms, mebibytes) }

    func run(in runner: inout Runner) throws {
        if runner.isWanted(writing, reading, readingPart) {
            let contents = try MeasuredContents(in: Self.memoryFileSystem, size: mebibytes << 20)
            try compareWithStream(contents, in: &runner)
            try readPart(contents, in: &runner)
        }
        if runner.isWanted(writingDurably) {
            try writeDurably(MeasuredContents(in: parent, size: mebibytes << 20), in: &runner)
        }
        if runner.isWanted(writingMemory, readingMemory) { try measureMemory(in: &runner) }
    }

    /// Few rounds: a turn takes as long as a hundred of other measurements.
    private func compare(
        _ rounds: Int, ours: () throws -> Void, peer: () throws -> Void
    ) throws -> (Comparison, note: String) {
        let comparison = try Comparison(
            rounds: max(3, rounds * 6 / (mebibytes + 1)), slice: 0, ours: ours, peer: peer)
        return (comparison, "\(Int(Double(mebibytes << 20) / comparison.ourMedian / 1e6)) MB/s")
    }

    /// Both sides work on all cores, on a memory file system: a disk would hide what they compute.
    private func compareWithStream(_ contents: MeasuredContents, in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure(writing) { operation in
            let (comparison, note) = try compare(
                rounds, ours: { try contents.writeSealed() }, peer: { try contents.writeStream() })
            return Finding(operation, comparison, against: "encrypt", target: 1.1, note: "encrypt; " + note)
        }
        try runner.measure(reading) { operation in
            try contents.writeSealed()
            try contents.writeStream()
            let (comparison, note) = try compare(
                rounds, ours: { try contents.readSealed() }, peer: { try contents.readStream() })
            return Finding(operation, comparison, against: "decrypt", target: 1.1, note: "decrypt; " + note)
        }
    }

    /// A file that is open, and a part that begins anywhere.
    private func readPart(_ contents: MeasuredContents, in runner: inout Runner) throws {
        let (rounds, count) = (runner.options.rounds, BlobLayout.chunkSize)
        try runner.measure(readingPart) { operation in
            try contents.writeSealed()
            let file = try contents.openSealed()
            let peer = try RawBlob(in: contents.workspace.path, size: count)
            let comparison = try Comparison(
                rounds: rounds,
                ours: {
                    let start = Int.random(in: 0...file.size - count)
                    guard try file.read(start..<start + count).count == count else {
                        throw BenchmarkFailure("a part is not whole")
                    }
                }, peer: { try peer.read() })
            return Finding(
                operation, comparison, against: "C", target: nil, note: "two chunks; C opens one of as many bytes")
        }
    }

    private func writeDurably(_ contents: MeasuredContents, in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure(writingDurably) { operation in
            let (comparison, note) = try compare(
                rounds, ours: { try contents.writeSealed() }, peer: { try contents.writePlain() })
            return Finding(operation, comparison, against: "plain", target: nil, note: "write and sync; " + note)
        }
    }

    private func measureMemory(in runner: inout Runner) throws {
        guard access(sealctl, X_OK) == 0 else {
            return say("skipped: \(writingMemory) (no sealctl beside this program: make bench builds it)")
        }
        let size = ofPrograms << 20
        let workspace = try Workspace(in: Self.memoryFileSystem)
        _ = try workspace.openStore()
        let files = try StreamFiles(in: Self.memoryFileSystem, size: size)
        func measure(_ operation: String, _ arguments: [String]) throws -> Finding {
            let program = ChildProcess(
                [sealctl, "file"] + arguments + ["--group", workspace.group.identifier, "--quiet"],
                environment: ["SEALED_GROUPS_HOME=" + workspace.path])
            let cost = try program.run(watchingMemory: true)
            return Finding(
                operation, cost.peakMemory, .bytes, target: Self.largestMemory,
                note: StreamBenchmarks.note(
                    throughput: Double(size) / cost.wall, load: cost.processor / cost.wall))
        }
        let written = try measure(writingMemory, ["put", MeasuredContents.name, files.input])
        try runner.measure(writingMemory) { _ in written }
        try runner.measure(readingMemory) { try measure($0, ["get", MeasuredContents.name]) }
    }
}

/// The same bytes as a sealed file, as a stream and as a plain file, in one directory.
private final class MeasuredContents {
    static let name = "measured"
    private static let pieceSize = 1 << 20

    let workspace: Workspace
    private let store: SealedStore
    private let key: SealingKey
    private let context: BlobContext
    private let files: StreamFiles
    private let input: Descriptor
    private let sink: Descriptor
    private var stream: String { workspace.path + "/stream" }

    init(in directory: String, size: Int) throws {
        workspace = try Workspace(in: directory)
        store = try workspace.openStore()
        key = try store.vault.activeKey()
        context = BlobContext(streamOf: workspace.group, named: Self.name)
        files = try StreamFiles(in: workspace.path, size: size)
        input = try Self.open(files.input, O_RDONLY)
        sink = try Self.open("/dev/null", O_WRONLY)
    }

    private static func open(_ path: String, _ flags: Int32) throws -> Descriptor {
        let file = Glibc.open(path, flags | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchmarkFailure("\(path): \(String(cString: strerror(errno)))") }
        return Descriptor(owning: file, path: path)
    }

    // MARK: The sealed file

    func writeSealed() throws {
        lseek(input.rawValue, 0, SEEK_SET)
        try store.files.write(fromDescriptor: input.rawValue, named: Self.name)
    }

    func openSealed() throws -> SealedFileHandle { try store.files.open(Self.name) }

    func readSealed() throws { try openSealed().copy(toDescriptor: sink.rawValue) }

    // MARK: The peers

    /// As `sealctl encrypt` does.
    func writeStream() throws {
        lseek(input.rawValue, 0, SEEK_SET)
        let description = BlobDescription(stream: context, sealedAt: 1)
        try replace(stream) { file in
            try StreamSealer.seal(
                from: Self.source(input.rawValue), to: Self.sink(file.rawValue), as: description, key: key)
        }
    }

    /// As `sealctl decrypt` does with a pipe.
    func readStream() throws {
        let file = try Self.open(stream, O_RDONLY)
        try StreamOpener.openReleasingEarly(
            from: Self.source(file.rawValue), to: Self.sink(sink.rawValue), context: context, keys: key)
    }

    func writePlain() throws {
        lseek(input.rawValue, 0, SEEK_SET)
        try replace(workspace.path + "/plain") { file in
            var piece = [UInt8](repeating: 0, count: Self.pieceSize)
            try piece.withUnsafeMutableBytes { piece in
                while true {
                    let count = try input.readSome(into: piece)
                    if count == 0 { break }
                    try file.write(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                }
            }
        }
    }

    /// Writes a new file, syncs it, and gives it its name.
    private func replace(_ path: String, _ write: (borrowing Descriptor) throws -> Void) throws {
        let file = try Self.open(path + ".new", O_WRONLY | O_CREAT | O_EXCL)
        try write(file)
        guard fdatasync(file.rawValue) == 0, rename(path + ".new", path) == 0 else {
            throw BenchmarkFailure("\(path): \(String(cString: strerror(errno)))")
        }
    }

    private static func source(_ file: Int32) -> StreamSource<FileError> {
        { buffer throws(FileError) in
            try Descriptor(borrowing: file, path: "the peer's input").readSome(into: buffer)
        }
    }

    private static func sink(_ file: Int32) -> StreamSink<FileError> {
        { bytes throws(FileError) in try Descriptor(borrowing: file, path: "the peer's output").write(bytes) }
    }
}
