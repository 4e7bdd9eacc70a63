package import PropertyLists

extension StructureFault {
    /// What a store says of it: what is no property list at all is not dangerous, it does not decode.
    package var code: StoreError.Code {
        switch self {
        case .malformed, .unsupported: .undecodable
        default: .unsafeStructure
        }
    }

    /// What a writer can do about it.
    var writingAdvice: String {
        switch self {
        case .tooDeep: "Nest the value less; the old one stands."
        case .tooManyValues, .tooMuchContent: "Write less in one record; the old value stands."
        case .longKey: "Use shorter keys, and keep long texts as values; the old value stands."
        case .stackedMarks: "Correct the text; the old value stands."
        case .cycle, .unsupported, .malformed: "Write what the codec can hold; the old value stands."
        }
    }
}
