internal import KeyVault
internal import Sealing
internal import SharedFiles

/// What a refused write says.
extension StandingBlob {
    /// Why readers refuse it, if they do.
    var rejection: StoreError? {
        if case .refused(let blob) = self { blob.rejection } else { nil }
    }

    /// As the end of a sentence.
    var text: String {
        switch self {
        case .nothing: "nothing is there"
        case .value(let header): "sequence \(header.sequence) is there"
        case .tombstone(let header): "it was deleted (sequence \(header.header.sequence))"
        case .refused(let blob): "what is there is refused (\(blob.rejection.code.rawValue))"
        }
    }
}

extension WriteCondition {
    /// As the beginning of a sentence.
    var text: String {
        switch self {
        case .always: "Anything was expected"
        case .absent: "Nothing was expected"
        case .sequence(let sequence): "Sequence \(sequence) was expected"
        }
    }
}

extension SealedStore {
    /// Whether a file is gone that has to be there: a state of the record was accepted, and it was not purged.
    func isMissing(_ place: RecordPlace) -> Bool {
        let name = place.context.nameTag
        return watermarks.mark(of: name) != nil && !watermarks.isPurged(name)
    }
}
