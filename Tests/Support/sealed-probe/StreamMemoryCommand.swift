internal import Dispatch
internal import Glibc
internal import Sealing
internal import Synchronization

/// `stream-memory MEBIBYTES WORKERS [digest]`: seals this amount of synthetic plaintext into a pipe and opens its
/// output at the same time. Prints the number of opened bytes and the process's peak memory in KiB. With `digest` the
/// stream is sealed with a digest that was computed before, and opened against it.
func streamMemoryCommand(arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count), let mebibytes = Int(arguments[0]), let workers = Int(arguments[1]) else {
        return 64
    }
    do {
        let count = try pass(mebibytes << 20, workers: workers, withDigest: arguments.last == "digest")
        say("\(count) \(peakMemory())")
        return 0
    } catch {
        say("\(error)")
        return 1
    }
}

private struct PipeFailure: Error {}

private func pass(_ size: Int, workers: Int, withDigest: Bool) throws -> Int {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw PipeFailure() }
    let (reader, writer) = (ends[0], ends[1])
    let key = try SealingKey.random(epoch: 1)
    let description = BlobDescription(
        stream: BlobContext(group: "group.com.example.app", kind: .stream, name: ""), sealedAt: 1)
    let seal: @Sendable (StreamSink<PipeFailure>) throws -> StreamDigest? = { sink in
        let input = SyntheticSource(size: size)
        let source: StreamSource<PipeFailure> = { buffer throws(PipeFailure) in input.read(buffer) }
        guard !withDigest else {
            return try StreamSealer.sealWithDigest(
                from: source, to: sink, as: description, key: key, workers: workers)
        }
        try StreamSealer.seal(from: source, to: sink, as: description, key: key, workers: workers)
        return nil
    }
    let digest = withDigest ? try seal { _ throws(PipeFailure) in } : nil
    let sealing = DispatchGroup()
    DispatchQueue.global().async(group: sealing) {
        _ = try? seal { bytes throws(PipeFailure) in try writeAll(bytes, to: writer) }
        close(writer)
    }
    let count = Atomic(0)
    try StreamOpener.openReleasingEarly(
        from: { buffer throws(PipeFailure) in
            let result = read(reader, buffer.baseAddress, buffer.count)
            if result < 0 { throw PipeFailure() }
            return result
        }, to: { bytes throws(PipeFailure) in _ = count.add(bytes.count, ordering: .relaxed) },
        context: description.context, keys: key, digest: digest, workers: workers)
    sealing.wait()
    return count.load(ordering: .relaxed)
}

/// A source of any number of bytes that are not stored.
private final class SyntheticSource: Sendable {
    private let left: Mutex<Int>

    init(size: Int) { left = Mutex(size) }

    func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        left.withLock { left in
            let count = min(left, buffer.count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]).initializeMemory(as: UInt8.self, repeating: 0x5a)
            left -= count
            return count
        }
    }
}

private func writeAll(_ bytes: UnsafeRawBufferPointer, to file: Int32) throws(PipeFailure) {
    var rest = bytes
    while !rest.isEmpty {
        let count = write(file, rest.baseAddress, rest.count)
        if count < 0 { throw PipeFailure() }
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
}

/// `VmHWM` of proc(5), in KiB.
func peakMemory() -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return .max }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("VmHWM:") { return text.split { !$0.isNumber }.first.flatMap { Int($0) } ?? .max }
    }
    return .max
}
