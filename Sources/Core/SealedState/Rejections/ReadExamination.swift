/// What came of each check of a read, for tools that explain a rejection.
package struct ReadExamination: Sendable {
    package enum Outcome: String, Sendable {
        /// It holds.
        case ok
        /// It does not, and that is why the blob is refused.
        case refused
        /// It could not be made: the vault is locked.
        case locked
        /// An earlier check was the last one.
        case notReached
        /// Only a program that has the record's type can tell.
        case needsType
    }

    /// What the record is refused for, or `.locked`; nil where every check that needs no type holds.
    package let error: StoreError?

    /// What came of a check.
    package func outcome(of check: ReadCheck) -> Outcome {
        if let error, let end = error.code.check {
            if check == end { return error.isRejection ? .refused : .locked }
            if check > end { return .notReached }
        }
        return check.needsType ? .needsType : .ok
    }
}
