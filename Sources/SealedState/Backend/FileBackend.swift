internal import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

/// Blobs as files below the container's `Records` directory: record `accounts/ada` is `accounts/ada.sealed`.
struct FileBackend: BlobBackend {
    private static let mode: UInt32 = 0o600
    private static let directoryMode: UInt32 = 0o700

    private let root: Directory
    private let locks: LockFile

    init(container: GroupContainer) {
        root = container.root
        locks = LockFile(directory: container.root, name: ContainerLayout.lockFile)
    }

    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8] {
        try root.read(path(address), limit: limit)
    }

    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try root.readPrefix(path(address), count: count).bytes
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    func replace(_ address: BlobAddress, with blob: [UInt8], durability: Durability) throws(FileError) {
        let path = path(address)
        try blob.withRawBytes { blob throws(FileError) in
            do throws(FileError) {
                try root.replace(path, with: blob, mode: Self.mode, durability: durability)
            } catch {
                guard error.code == .notFound else { throw error }
                _ = try root.makeDirectory(Self.parent(of: path), mode: Self.directoryMode)
                try root.replace(path, with: blob, mode: Self.mode, durability: durability)
            }
        }
    }

    func quarantine(_ address: BlobAddress, limit: Int) throws(FileError) -> String {
        let bytes = try root.read(path(address), limit: limit)
        let digest = BLAKE2b.hash(bytes, count: 16).withRawBytes { $0.prefix(8).map { String($0, radix: 16) } }.joined()
        let flat = address.name.text.split(separator: "/").joined(separator: "+")
        _ = try root.makeDirectory(ContainerLayout.quarantine, mode: Self.directoryMode)
        let place = "\(ContainerLayout.quarantine)/\(flat.suffix(120)).\(digest)\(ContainerLayout.recordSuffix)"
        try bytes.withRawBytes { bytes throws(FileError) in
            do throws(FileError) {
                try root.createExclusively(place, with: bytes, mode: Self.mode)
            } catch {
                // The same bytes were quarantined before.
                guard error.code == .alreadyExists else { throw error }
            }
        }
        return place
    }

    func names() throws(FileError) -> [String] {
        let records: Directory
        do throws(FileError) { records = try root.directory(ContainerLayout.records) } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
        var names: [String] = []
        records.walk(maximumDepth: RecordName.maximumDepth) { entry in
            guard entry.kind == .regular, entry.path.hasSuffix(ContainerLayout.recordSuffix) else { return }
            names.append(String(entry.path.dropLast(ContainerLayout.recordSuffix.count)))
        }
        return names
    }

    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock {
        try locks.acquire(address.lock, .exclusive, timeout: timeout, isCancelled: isCancelled)
    }

    private func path(_ address: BlobAddress) -> String {
        "\(ContainerLayout.records)/\(address.name.text)\(ContainerLayout.recordSuffix)"
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }
}
