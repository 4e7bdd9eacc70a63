internal import CryptoPrimitives
internal import KeyVault
internal import Sealing

/// A position in a record's history from which to continue watching, in this process or a later one.
///
/// An opaque line of text (`description`), and `Codable` as that. It contains the delivered state and the result of its
/// read, but no contents, and nothing that is not in clear in the record's file. It is valid for one record of one
/// group only.
public struct UpdateCursor: Sendable, Hashable, CustomStringConvertible {
    let mark: UpdateMark

    init(_ mark: UpdateMark) { self.mark = mark }

    private static let version: UInt8 = 1
    /// Version, name tag, epoch, sequence, a flag for a known commitment, and the commitment.
    private static let fixedSize = 1 + 16 + 4 + 8 + 1 + 32
    private static let checkSize = 16
    private static let maximumOutcomeSize = 128
    private static let personalization = Personalization("SealedState.cur1")

    /// Creates a cursor from its text.
    ///
    /// - Throws: `StoreError` `.invalidCursor` for any text other than a whole cursor of this version.
    public init(_ text: String) throws(StoreError) {
        guard let mark = Self.parse(text) else { throw .invalidCursor("It is damaged, or is not a cursor.") }
        self.init(mark)
    }

    /// The cursor as one line of lower-case hexadecimal digits.
    public var description: String {
        let body = self.body
        return (body + Self.check(body)).withUnsafeBytes { $0.hexadecimal }
    }

    private var body: [UInt8] {
        let accepted = mark.accepted
        var bytes = [Self.version]
        mark.name.bytes.withUnsafeBytes { bytes += $0 }
        Swift.withUnsafeBytes(of: accepted.epoch.littleEndian) { bytes += $0 }
        Swift.withUnsafeBytes(of: accepted.sequence.littleEndian) { bytes += $0 }
        bytes.append(accepted.commitment == nil ? 0 : 1)
        (accepted.commitment?.bytes ?? .zero).withUnsafeBytes { bytes += $0 }
        return bytes + mark.outcome.utf8
    }

    /// Returns the check value, against typing errors and truncation only: a changed cursor misleads only the program
    /// that trusts it.
    private static func check(_ body: [UInt8]) -> [UInt8] {
        BLAKE2b.hash(body, personalization: personalization, count: checkSize)
    }

    private static func parse(_ text: String) -> UpdateMark? {
        let digits = Array(text.utf8)
        let sizes = (fixedSize + checkSize)...(fixedSize + checkSize + maximumOutcomeSize)
        guard digits.count.isMultiple(of: 2), sizes.contains(digits.count / 2) else { return nil }
        var bytes = [UInt8](repeating: 0, count: digits.count / 2)
        let isHexadecimal = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { (try? Hexadecimal.decode(digits, into: $0)) != nil }
        }
        let body = Array(bytes.dropLast(checkSize))
        // Only this type's own output is valid: each state has one text.
        guard isHexadecimal, body[0] == version, check(body) == bytes.suffix(checkSize) else { return nil }
        return mark(body).flatMap { UpdateCursor($0).description == text ? $0 : nil }
    }

    private static func mark(_ body: [UInt8]) -> UpdateMark? {
        body.withUnsafeBytes { body in
            func part(_ offset: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: body[offset...]) }
            let epoch = UInt32(littleEndian: body.loadUnaligned(fromByteOffset: 17, as: UInt32.self))
            let sequence = UInt64(littleEndian: body.loadUnaligned(fromByteOffset: 21, as: UInt64.self))
            let commitment = body[29] == 0 ? nil : Commitment(bytes: Bytes32(part(30)))
            guard let outcome = String(validating: body[fixedSize...], as: UTF8.self) else { return nil }
            return UpdateMark(
                name: NameTag(bytes: Bytes16(part(1))),
                accepted: Watermark(epoch: epoch, sequence: sequence, commitment: commitment), outcome: outcome)
        }
    }
}

extension UpdateCursor: Codable {
    /// Creates a cursor from its encoded text.
    ///
    /// - Throws: `StoreError` `.invalidCursor`, or the decoder's error.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension StoreError {
    static func invalidCursor(_ reason: String) -> StoreError {
        StoreError(
            .invalidCursor, "resume watching from", "a cursor", reason,
            advice: "Watch from the present state instead.")
    }
}

/// The identity of a record's state: the accepted blob, and the result of a read.
struct UpdateMark: Sendable, Hashable {
    let name: NameTag
    /// The accepted state at the time; epoch and sequence 0 if nothing was ever accepted.
    let accepted: Watermark
    /// `value`, or the error's code; for a last good value both.
    let outcome: String

    private static let nothing = Watermark(epoch: 0, sequence: 0, commitment: nil)

    /// Creates the mark of a refused read.
    ///
    /// - Parameter accepted: The present highest state. A blob that is refused for its contents or its age was accepted
    ///   before: the next one of the kind has another mark. A blob that is refused for its form was not.
    init(_ name: NameTag, _ error: StoreError, accepted: Watermark?) {
        self.init(name: name, accepted: accepted ?? Self.nothing, outcome: error.code.rawValue)
    }

    /// Creates the mark of a successful read.
    init(_ name: NameTag, _ provenance: Provenance, rejection: StoreError?, accepted: Watermark?) {
        let isAccepted = accepted.map { $0.sequence == provenance.sequence && $0.epoch == provenance.epoch } ?? false
        // If another thread has accepted a newer blob meanwhile, this blob's commitment is not known any more.
        let own = Watermark(
            epoch: provenance.epoch, sequence: provenance.sequence, commitment: isAccepted ? accepted?.commitment : nil)
        // A value that replaces a refused blob changes with that blob.
        let shown = rejection == nil ? own : accepted ?? own
        self.init(name: name, accepted: shown, outcome: "value" + (rejection.map { " " + $0.code.rawValue } ?? ""))
    }

    init(name: NameTag, accepted: Watermark, outcome: String) {
        self.name = name
        self.accepted = accepted
        self.outcome = outcome
    }

    /// Returns `true` if both are the same state, as far as both are known.
    func isSame(as other: UpdateMark) -> Bool {
        let sameOrder = accepted.epoch == other.accepted.epoch && accepted.sequence == other.accepted.sequence
        guard name == other.name, outcome == other.outcome, sameOrder else { return false }
        guard let commitment = accepted.commitment, let others = other.accepted.commitment else { return true }
        return commitment == others
    }
}
