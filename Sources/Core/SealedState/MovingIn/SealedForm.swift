/// The place that a file's contents go to, with what is to be there.
protocol SealedForm {
    /// Where it is sealed, or under whose keys.
    var store: SealedStore { get }
    /// As reports have it.
    var form: MovedItem.Form { get }
    /// As messages and reports have it.
    var target: String { get }
    /// Opens what is there as any reader would, and compares it.
    func compare() throws(StoreError) -> SealedFormState
    /// Refuses what `seal` would refuse for its size, its structure or the container's quota. Writes nothing.
    func rehearse() throws(StoreError)
    /// Writes it durably. What is there meanwhile and differs is `.conflict`, unless it is to be replaced.
    func seal(replacing: Bool) throws(StoreError)
    /// Makes what is there durable, whoever wrote it.
    func makeDurable() throws(StoreError)
}

/// What lies in a target's place.
enum SealedFormState: Equatable {
    case absent
    /// The same contents, authentic and readable.
    case same
    /// Something else, as a part of a sentence.
    case different(String)
}
