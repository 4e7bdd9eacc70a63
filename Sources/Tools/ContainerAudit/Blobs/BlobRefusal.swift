internal import SealedState
internal import Sealing

/// What a refusal of the format means: for a reader, and for the audit.
enum BlobRefusal {
    static func meaning(of code: SealingError.Code) -> (StoreError.Code, AuditCheck) {
        switch code {
        case .unsupportedFormat: (.unsupportedFormat, .blobUnsupported)
        case .wrongGroup: (.wrongGroup, .blobWrongPlace)
        case .wrongKind: (.wrongKind, .blobWrongPlace)
        case .wrongName: (.wrongName, .blobWrongPlace)
        case .unknownKey: (.unknownKey, .blobUnknownKey)
        case .wrongEpoch: (.wrongEpoch, .blobWrongEpoch)
        case .wrongCommitment: (.wrongCommitment, .blobTampered)
        case .wrongSuite: (.wrongSuite, .blobTampered)
        case .retiredEpoch: (.retiredEpoch, .blobRetired)
        case .tampered: (.tampered, .blobTampered)
        case .tooLarge: (.tooLarge, .blobOversized)
        default: (.malformed, .blobMalformed)
        }
    }
}
