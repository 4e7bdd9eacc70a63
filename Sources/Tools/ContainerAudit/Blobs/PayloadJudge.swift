internal import FoundationEssentials
internal import PropertyLists
internal import SealedState
internal import Sealing

/// A fault in an authentic record's contents. It contains the kind of the fault, never values.
enum PayloadRemark: Sendable, Hashable {
    /// The contents cannot be decoded by any reader; with the reason as a sentence.
    case unreadable(String)
    /// The contents include an expiry, but the header has none.
    case unsealedEnd(isPast: Bool)
}

/// Checks a record's contents as readers do before they decode them, and the expiry that they may include.
struct PayloadJudge: Sendable {
    let limits: StructureLimits
    let now: Date

    func remarks(on plaintext: UnsafeRawBufferPointer, _ header: BlobHeader) -> [PayloadRemark] {
        guard header.kind == .record, !header.flags.contains(.tombstone) else { return [] }
        do throws(StructureFault) { try PayloadCoding.check(plaintext, header.codec, limits) } catch {
            return [.unreadable(error.reason)]
        }
        guard header.codec == .json else { return [] }
        do throws(JSONFault) { try JSONChecker.check(plaintext, maximumDepth: limits.depth) } catch {
            return [.unreadable("It is not JSON: byte \(error.offset), \(error.reason).")]
        }
        guard header.notAfter == 0, let end = PayloadEnd.find(in: plaintext) else { return [] }
        return [.unsealedEnd(isPast: end < now.timeIntervalSince1970)]
    }
}

extension PayloadRemark {
    /// Returns the remark as a finding.
    func finding(at place: FindingPlace) -> Finding {
        switch self {
        case .unreadable(let reason): AuditCheck.recordUnreadable.finding(at: place, reason)
        case .unsealedEnd(let isPast):
            AuditCheck.recordExpiryUnsealed.finding(
                at: place, isPast ? "That time has passed." : "That time is in the future.",
                severity: isPast ? .low : nil,
                confidence: .likely)
        }
    }
}

/// The expiry at the top level of a JSON object: `expiresAt`, `expires_at`, `notAfter`, `validUntil`, `exp`.
enum PayloadEnd {
    private struct Fields: Decodable {
        let end: Double?

        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Name.self)
            let named = container.allKeys.filter { PayloadEnd.isEnd($0.stringValue) }
            end = named.compactMap { Self.seconds($0, container) }.min()
        }

        private static func seconds(_ key: Name, _ container: KeyedDecodingContainer<Name>) -> Double? {
            if let text = try? container.decode(String.self, forKey: key) { return PayloadEnd.seconds(in: text) }
            return (try? container.decode(Double.self, forKey: key)).flatMap(PayloadEnd.seconds)
        }
    }

    private static let names: Set<String> = [
        "expiresat", "expires", "expiry", "expirydate", "expirationdate", "expiration", "expireson", "notafter",
        "validuntil", "validto", "exp", "tokenexpiresat", "tokenexpiry", "sessionexpiresat",
    ]

    /// Returns the earliest expiry in seconds since 1970, or `nil` if the JSON is not an object or has none.
    static func find(in json: UnsafeRawBufferPointer) -> Double? {
        (try? JSONCodec.decode(Fields.self, from: json))?.end
    }

    static func isEnd(_ name: String) -> Bool {
        names.contains(String(name.lowercased().filter { $0 != "_" && $0 != "-" }))
    }

    /// Returns the seconds of a time as text, or of a number written as text.
    static func seconds(in text: String) -> Double? {
        if let number = Double(text) { return seconds(number) }
        return MillisecondTime.date(text)?.timeIntervalSince1970
    }

    /// Returns seconds for seconds or milliseconds since 1970. Other numbers, such as a lifetime in seconds, are not
    /// times.
    static func seconds(_ number: Double) -> Double? {
        // The range is 2001 to 2286 in seconds, or the same in milliseconds.
        if (1e9..<1e10).contains(number) { return number }
        return (1e12..<1e13).contains(number) ? number / 1000 : nil
    }
}
