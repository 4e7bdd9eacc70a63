internal import SealedState
internal import Sealing

/// What a refusal of the format means: for a reader, and for the audit.
enum BlobRefusal {
    static func meaning(of code: SealingError.Code) -> (StoreError.Code, AuditCheck) {
        switch code {
        case .unsupportedFormat: (.unsupportedFormat, .blobUnsupported)
        case .wrongGroup: (.wrongGroup, .blobWrongPlace)
        case .wrongName, .wrongKind: (.wrongName, .blobWrongPlace)
        case .unknownKey: (.unknownKey, .blobUnknownKey)
        case .wrongEpoch: (.wrongEpoch, .blobWrongEpoch)
        case .wrongCommitment: (.wrongCommitment, .blobTampered)
        case .notAuthentic: (.tampered, .blobTampered)
        case .tooLarge: (.tooLarge, .blobOversized)
        default: (.malformed, .blobMalformed)
        }
    }
}
