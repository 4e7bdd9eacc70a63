import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

/// There are no sizes in a header, so only the size of the file itself can be wrong. This keeps it so: in a process
/// that may not allocate another mebibyte, small files of every kind have the same answers as before, where an allocation of
/// their choosing would fail.
@Suite struct HostileSizeTests {
    @Test func smallHostileBlobsNeverAllocateAMebibyte() async {
        await #expect(processExitsWith: .success) {
            let vectors = BlobVector.all.filter { $0.blob.count < 500 }
            var random = SeededGenerator(seed: 3)
            var blobs: [(vector: BlobVector, blob: [UInt8], codes: [String])] = []
            for _ in 0..<3000 {
                guard let vector = vectors.randomElement(using: &random) else { exit(3) }
                let blob = BlobMutation.apply(2, to: vector.blob, others: vectors, using: &random)
                blobs.append((vector, blob, codes(of: blob, vector)))
            }
            guard limitMemory(toAnother: 1 << 20) else { exit(2) }
            for (vector, blob, expected) in blobs where codes(of: blob, vector) != expected { exit(1) }
            exit(0)
        }
    }

    /// The header is refused before a stream's buffers are allocated.
    @Test func aStreamWithAnUnverifiedHeaderAllocatesNoBuffers() async {
        await #expect(processExitsWith: .success) {
            let refused = BlobVector.all.filter { vector in
                !vector.isGood && !["malformed", "tampered"].contains(vector.entry.expected.result)
                    && vector.entry.readers == nil
            }
            guard refused.count > 10, limitMemory(toAnother: 512 << 10) else { exit(2) }
            for vector in refused {
                guard BlobReading.streamWithOneWorker.read(vector.blob, of: vector).code == vector.entry.expected.result
                else { exit(1) }
            }
            exit(0)
        }
    }

    @Test func blobsLargerThanTheLimitAreNotExamined() throws {
        let vector = try BlobVector(named: "good-record-two-chunks")
        #expect(code(vector, limit: vector.blob.count) == "ok")
        for limit in [vector.blob.count - 1, 176, 0, -1] { #expect(code(vector, limit: limit) == "tooLarge") }
        // The blob's size is checked before anything else.
        let noise = [UInt8](repeating: 0, count: 100)
        #expect(BlobReading.whole.read(noise, context: vector.context, key: vector.key, limit: 99).code == "tooLarge")
    }

    private func code(_ vector: BlobVector, limit: Int) -> String {
        BlobReading.whole.read(vector.blob, context: vector.context, key: vector.key, limit: limit).code
    }
}

/// The answers of both ways to read a blob as a whole. A limit of 2 GiB is a permission, not an order.
private func codes(of blob: [UInt8], _ vector: BlobVector) -> [String] {
    [
        BlobReading.whole.read(blob, context: vector.context, key: vector.key, limit: 2 << 30).code,
        BlobReading.range.read(blob, context: vector.context, key: vector.key).code,
    ]
}

/// Lets this process allocate that much more and nothing beyond it; false when the limit does not bite.
private func limitMemory(toAnother bytes: Int) -> Bool {
    // Freed memory must not serve a request that the limit is to refuse, so it is used up first.
    guard setDataLimit(4096) else { return false }
    for size in [bytes, bytes / 2, bytes / 4, 65_536] { while malloc(size) != nil {} }
    guard let used = dataSize(), setDataLimit(used + bytes) else { return false }
    guard let refused = malloc(bytes + 65_536) else { return true }
    free(refused)
    return false
}

private func setDataLimit(_ bytes: Int) -> Bool {
    var limit = rlimit(rlim_cur: UInt(bytes), rlim_max: .max)
    return setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit) == 0
}

/// `VmData` of proc(5), in bytes.
private func dataSize() -> Int? {
    guard let file = fopen("/proc/self/status", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix("VmData:") { return text.split { !$0.isNumber }.first.flatMap { Int($0) }.map { $0 << 10 } }
    }
    return nil
}
