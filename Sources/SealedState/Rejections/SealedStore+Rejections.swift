extension SealedStore {
    /// What a read that was refused answers, by the store's policy.
    func answer<Record: SealedRecord>(
        to rejection: StoreError, _ type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        throw rejection
    }
}
