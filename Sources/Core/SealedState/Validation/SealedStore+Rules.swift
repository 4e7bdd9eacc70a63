extension SealedStore {
    /// Both kinds of a record's own rules, on every read and before every write; all that are broken are told.
    ///
    /// - Parameter advice: For a value of this program's own; that of the code unless stated.
    func validate(_ value: some SealedRecord, named name: String, advice: String? = nil) throws(StoreError) {
        guard let failure = ValidationFailure(of: value) else { return }
        throw StoreError(
            .invalid, "validate", name, "It breaks its own rules: \(failure).", advice: advice, cause: failure)
    }
}
