internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import Sealing

/// The writer of a record whose signature readers accept.
struct Signer {
    /// As 32 hexadecimal digits.
    let id: String
    /// As the roster that counts has it.
    let label: String?
    /// The version of the roster under which it signed.
    let rosterVersion: UInt64

    init(id: String, rosterVersion: UInt64, in store: SealedStore) {
        self.id = id
        self.rosterVersion = rosterVersion
        label = store.rosterStanding?.roster?.roster.writers.first { $0.id.description == id }?.label
    }

    /// `app (8f14e45fceea167a5a36dedd4bea2543), roster version 2`.
    var text: String { "\(label.map { "\($0) (\(id))" } ?? id), roster version \(rosterVersion)" }

    var json: JSONText {
        .object([
            ("id", .string(id)), ("label", .optional(label)), ("rosterVersion", .unsigned(rosterVersion)),
        ])
    }
}
