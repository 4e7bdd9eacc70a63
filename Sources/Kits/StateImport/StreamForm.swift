internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Contents of any size that become a sealed file; memory stays constant.
final class StreamForm: SealedForm, Sendable {
    let store: SealedStore
    private let source: PlaintextSource
    private let place: SealedFilePlace

    init(of source: PlaintextSource, at place: SealedFilePlace, for store: SealedStore) {
        self.store = store
        self.source = source
        self.place = place
    }

    var form: MovedItem.Form { .stream }
    var target: String { place.path }

    /// A single thread for small files: more would only be started and ended.
    private var workers: Int { source.facts.size <= 1 << 20 ? 1 : StreamWorkers.all }

    func compare() throws(StoreError) -> SealedFormState {
        let sealed: StreamFile
        do throws(FileError) { sealed = try StreamFile(place.root.openForReading(place.relative)) } catch {
            switch error.code {
            case .notFound: return .absent
            case .notRegularFile, .unsafePath: return .different("it is no regular file")
            default: throw StoreError(error, "read", target)
            }
        }
        do throws(StreamFailure<StreamComparisonFailure>) { return try compare(with: sealed) } catch {
            return try state(after: error)
        }
    }

    private func compare(with sealed: StreamFile) throws(StreamFailure<StreamComparisonFailure>) -> SealedFormState {
        let keyring = store.vault.keyring
        let plain = StreamOffset()
        let header = try StreamOpener.openReleasingEarly(
            from: { (buffer) throws(StreamComparisonFailure) in try sealed.read(into: buffer) },
            to: { (bytes) throws(StreamComparisonFailure) in try self.source.requireSame(bytes, at: plain) },
            context: BlobContext(streamOf: store.group), keys: keyring, workers: workers)
        guard header.header.epoch >= keyring.minimumEpoch else {
            return .different("it is sealed under a key that a rotation has retired")
        }
        return plain.value == source.facts.size ? .same : .different("it holds something else")
    }

    private func state(after failure: StreamFailure<StreamComparisonFailure>) throws(StoreError) -> SealedFormState {
        switch failure {
        case .sealing(let error):
            let code = StoreError(error, "read", target).code.rawValue
            return .different("it does not open as a sealed file of \(store.group) (\(code))")
        case .input(.differs), .output(.differs): return .different("it holds something else")
        case .input(.file(let error)): throw StoreError(error, "read", target)
        case .output(.file(let error)): throw StoreError(reading: error, source.name)
        }
    }

    func rehearse() throws(StoreError) {
        guard let path = place.containerPath else { return }
        try store.admit(path, plaintext: Int(source.facts.size), for: target)
    }

    func seal(replacing: Bool) throws(StoreError) {
        let key = try store.reader.keys.activeKey(for: .afterFirstUnlock)
        let file: NewFile
        do throws(FileError) { file = try place.newFile() } catch { throw StoreError(writing: error, target) }
        try fill(file, under: key)
        // A rotation that was completed meanwhile has missed this stream, and no rotation would reseal it.
        guard try store.reader.keys.activeKey(for: .afterFirstUnlock).id == key.id else {
            throw StoreError(
                .conflict, StoreError.plaintextImport, source.name, "The group's key was rotated meanwhile.",
                advice: "Try again; nothing was written.")
        }
        do throws(FileError) { try file.commit(replacing: replacing, durability: .durable) } catch {
            guard error.code == .alreadyExists else { throw StoreError(writing: error, target) }
            throw .occupied(source.name, target, "it was made meanwhile")
        }
    }

    private func fill(_ file: borrowing NewFile, under key: SealingKey) throws(StoreError) {
        let description = BlobDescription(
            stream: BlobContext(streamOf: store.group), sealedAt: store.options.now().headerMilliseconds ?? 1)
        let offset = StreamOffset()
        do throws(StreamFailure<FileError>) {
            try StreamSealer.seal(
                from: { (buffer) throws(FileError) in
                    let count = try self.source.descriptor.pread(into: buffer, at: offset.value)
                    offset.advance(count)
                    return count
                },
                to: { (bytes) throws(FileError) in try file.write(bytes) },
                as: description, key: key, workers: workers)
        } catch {
            switch error {
            case .sealing(let error): throw StoreError(error, "write", target)
            case .input(let error): throw StoreError(reading: error, source.name)
            case .output(let error): throw StoreError(writing: error, target)
            }
        }
    }

    func makeDurable() throws(StoreError) {
        do throws(FileError) { try place.root.makeDurable(place.relative) } catch {
            throw StoreError(error, "make durable", target)
        }
    }
}

/// The reasons for which two streams could not be compared to their end.
enum StreamComparisonFailure: Error {
    case file(FileError)
    case differs
}

/// A sealed file that is read from its start.
final class StreamFile: Sendable {
    private let descriptor: Descriptor
    private let offset = StreamOffset()

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(StreamComparisonFailure) -> Int {
        do throws(FileError) {
            let count = try descriptor.pread(into: buffer, at: offset.value)
            offset.advance(count)
            return count
        } catch { throw .file(error) }
    }
}

/// The position in a stream that is read or compared by one thread at a time, but not always the same.
final class StreamOffset: Sendable {
    private let offset = Atomic<Int64>(0)

    var value: Int64 { offset.load(ordering: .relaxed) }

    func advance(_ count: Int) { offset.add(Int64(count), ordering: .relaxed) }
}

extension PlaintextSource {
    /// - Throws: `.differs` unless the file continues with these bytes.
    func requireSame(_ bytes: UnsafeRawBufferPointer, at offset: StreamOffset) throws(StreamComparisonFailure) {
        var expected = PlaintextBuffer(count: bytes.count)
        let count: Int
        do throws(FileError) {
            count = try expected.withUnsafeMutableBytes { buffer throws(FileError) in
                try descriptor.pread(into: buffer, at: offset.value)
            }
        } catch { throw .file(error) }
        guard count == bytes.count, expected.withUnsafeBytes({ ConstantTime.areEqual($0, bytes) }) else {
            throw .differs
        }
        offset.advance(count)
    }
}
