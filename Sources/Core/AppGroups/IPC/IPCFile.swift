/// What lies in a container for semaphores, shared memory and sockets, for who looks at a container.
package enum IPCFile {
    /// The lock file in either directory; empty.
    package static let lockName = IPCPlace.lockName
    /// Bytes of a record.
    package static let recordSize = IPCRecord.size

    /// Whether a file of that name may hold these bytes: a record of the kind that the name says.
    package static func isRecord(named name: String, _ bytes: [UInt8]) -> Bool {
        guard let record = IPCRecord(bytes), name.hasSuffix(record.kind.suffix) else { return false }
        return GroupIPCName.fault(of: String(name.dropLast(record.kind.suffix.count))) == nil
    }

    /// Whether a record may have that name.
    package static func isRecordName(_ name: String) -> Bool {
        let suffixes = IPCKind.allCases.map(\.suffix)
        guard let suffix = suffixes.first(where: name.hasSuffix) else { return false }
        return GroupIPCName.fault(of: String(name.dropLast(suffix.count))) == nil
    }

    /// Whether a socket may have that name.
    package static func isSocketName(_ name: String) -> Bool { GroupIPCName.fault(of: name) == nil }
}
