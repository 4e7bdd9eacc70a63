public import SealedState

/// The outcomes of the files of a container.
public struct PlaintextImportReport: Sendable {
    /// Every file, in the order of their paths.
    public internal(set) var items: [MovedItem] = []

    init() {}

    /// The items that could not be moved.
    public var failures: [MovedItem] { items.filter { $0.error != nil } }

    /// The items that stay in plaintext without a request for it.
    public var leftInPlaintext: [MovedItem] { items.filter(\.isLeftInPlaintext) }

    /// A Boolean value that indicates whether every file was moved, has no plaintext, or was to be left.
    public var isComplete: Bool { failures.isEmpty && leftInPlaintext.isEmpty }
}

/// The outcome of one file of plaintext.
public struct MovedItem: Sendable {
    /// The kind of target.
    public enum Form: String, Sendable, Hashable {
        /// A record of the group.
        case record
        /// A suite of defaults.
        case defaults
        /// A sealed file of the group.
        case file
    }

    /// The result of a move.
    public enum Outcome: Sendable {
        /// The file was sealed now, and its sealed form was read back.
        case sealed
        /// The sealed form existed already, with the same contents.
        case alreadySealed
        /// The file is missing and its target exists: an earlier call may have moved it, if it ever existed.
        case gone
        /// A dry run: the file would be sealed.
        case planned
        /// The file is not moved.
        case left(reason: String)
        /// The file could not be moved; the plaintext is unchanged, unless the error's code is `.durabilityUnknown`.
        case failed(StoreError)
    }

    /// The file.
    public let source: String
    /// The kind of target; `nil` for a file that is left.
    public let form: Form?
    /// The name of the record, the suite or the sealed file.
    public let target: String?
    /// The result of the move.
    public internal(set) var outcome: Outcome
    /// A Boolean value that indicates whether this call removed the plaintext.
    public internal(set) var isSourceRemoved = false
    /// A Boolean value that indicates whether the file stays in plaintext without a request for it.
    public internal(set) var isLeftInPlaintext = false
    /// Notes for a person, as sentences; never contents.
    public internal(set) var notes: [String] = []

    init(_ source: String, _ form: Form?, _ target: String?, _ outcome: Outcome) {
        self.source = source
        self.form = form
        self.target = target
        self.outcome = outcome
    }
}

extension MovedItem {
    /// A Boolean value that indicates whether this file needs no further action.
    public var isDone: Bool {
        switch outcome {
        case .sealed, .alreadySealed, .gone: true
        case .left: !isLeftInPlaintext
        case .planned, .failed: false
        }
    }

    /// The error, if there is one.
    public var error: StoreError? {
        if case .failed(let error) = outcome { error } else { nil }
    }
}
