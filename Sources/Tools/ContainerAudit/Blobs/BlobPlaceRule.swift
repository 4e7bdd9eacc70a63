internal import AppGroups
internal import SealedState
internal import Sealing

/// Which blobs belong where: a record's in its own file among the records, a stream's anywhere else.
struct BlobPlaceRule: Sendable {
    let scope: AuditScope

    /// Why a blob does not belong where it lies, by what its header claims.
    struct Fault: Sendable {
        /// What a reader says.
        let code: StoreError.Code
        let detail: String
    }

    /// The context that a blob of a place is bound to; nil where the group is not known.
    func context(of claimed: BlobHeader, at place: ContainerPlace) -> BlobContext? {
        guard let group = scope.group else { return nil }
        // A stream's name is known to the programs that use it, and to nothing in the container.
        if claimed.kind == .stream { return BlobContext(streamOf: group, tagged: claimed.nameTag) }
        return BlobContext(
            group: group.identifier, kind: claimed.kind, name: claimed.kind == .record ? place.recordName ?? "" : "")
    }

    /// Nil for a blob that may lie where it lies. Without a group only the kind of place can be judged.
    func fault(of claimed: BlobHeader, at place: ContainerPlace) -> Fault? {
        let context = context(of: claimed, at: place)
        if let context, claimed.groupTag != context.groupTag {
            return Fault(code: .wrongGroup, detail: "It was sealed for another app group.")
        }
        if claimed.kind == .stream {
            return place.isAmongRecords
                ? Fault(code: .wrongKind, detail: "It is a stream, and lies among the records.") : nil
        }
        guard place.recordName != nil else {
            return Fault(code: .wrongName, detail: elsewhere(claimed, place))
        }
        guard let context, claimed.nameTag != context.nameTag else { return nil }
        return Fault(code: .wrongName, detail: "It was sealed under another name\(owner(claimed)).")
    }

    private func elsewhere(_ claimed: BlobHeader, _ place: ContainerPlace) -> String {
        place == .amongRecords
            ? "It is a record, and no record can have this file's name\(owner(claimed))."
            : "It is a record, and lies outside the records\(owner(claimed))."
    }

    private func owner(_ claimed: BlobHeader) -> String {
        scope.names[claimed.nameTag].map { "; it belongs to the record \($0)" } ?? ""
    }
}
