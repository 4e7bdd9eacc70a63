public import SealedState

/// What became of the files of a container.
public struct MovingInReport: Sendable {
    /// Every file, in the order of their paths.
    public internal(set) var items: [MovedItem] = []

    init() {}

    /// Those that could not be moved.
    public var failures: [MovedItem] { items.filter { $0.error != nil } }

    /// Those that stay in plaintext although nobody has said that they should.
    public var leftInPlaintext: [MovedItem] { items.filter(\.isLeftInPlaintext) }

    /// Whether every file was moved, holds no plaintext, or was to be left.
    public var isComplete: Bool { failures.isEmpty && leftInPlaintext.isEmpty }
}

/// What became of one file of plaintext.
public struct MovedItem: Sendable {
    /// What it becomes.
    public enum Form: String, Sendable, Hashable {
        /// A record of the group.
        case record
        /// A suite of defaults.
        case defaults
        /// A sealed file of any size.
        case stream
    }

    /// What was done.
    public enum Outcome: Sendable {
        /// It was sealed now, and its sealed form was read back.
        case sealed
        /// Its sealed form was there already, with the same contents.
        case alreadySealed
        /// The file is not there, and what it was to become is: an earlier call may have moved it, if it was ever there.
        case gone
        /// A dry run: it would be sealed.
        case planned
        /// It is none of those that are moved.
        case left(reason: String)
        /// It could not be moved; the plaintext is as it was, unless the error's code is `.durabilityUnknown`.
        case failed(StoreError)
    }

    /// The file.
    public let source: String
    /// What it becomes; nil where it is left.
    public let form: Form?
    /// The record's name, the suite's, or the sealed file.
    public let target: String?
    /// What was done.
    public internal(set) var outcome: Outcome
    /// Whether the plaintext was removed by this call.
    public internal(set) var isSourceRemoved = false
    /// Whether it stays in plaintext although nobody has said that it should.
    public internal(set) var isLeftInPlaintext = false
    /// What a person should know, as sentences; never contents.
    public internal(set) var notes: [String] = []

    init(_ source: String, _ form: Form?, _ target: String?, _ outcome: Outcome) {
        self.source = source
        self.form = form
        self.target = target
        self.outcome = outcome
    }
}

extension MovedItem {
    /// Whether nothing is left to do for this file.
    public var isDone: Bool {
        switch outcome {
        case .sealed, .alreadySealed, .gone: true
        case .left: !isLeftInPlaintext
        case .planned, .failed: false
        }
    }

    /// The error, where there is one.
    public var error: StoreError? {
        if case .failed(let error) = outcome { error } else { nil }
    }
}
