internal import FoundationEssentials
internal import PropertyLists
internal import SealedState
internal import Sealing

/// What an authentic record's contents say against it. Values never leave this: only what kind of thing is wrong does.
enum PayloadRemark: Sendable, Hashable {
    /// No reader decodes it; why, as a sentence.
    case unreadable(String)
    /// It names its end, and its header has none.
    case unsealedEnd(isPast: Bool)
}

/// Looks at a record's contents as its readers do before they decode them, and at the end that they may name.
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
    /// What it is as a finding.
    func finding(at place: FindingPlace) -> Finding {
        switch self {
        case .unreadable(let reason): AuditCheck.recordUnreadable.finding(at: place, reason)
        case .unsealedEnd(let isPast):
            AuditCheck.recordExpiryUnsealed.finding(
                at: place, isPast ? "That time has passed." : "That time is to come.", severity: isPast ? .low : nil,
                confidence: .likely)
        }
    }
}

/// The end that a JSON object names at its top level: `expiresAt`, `expires_at`, `notAfter`, `validUntil`, `exp`.
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

    /// The earliest end, in seconds since 1970; nil where the object names none, or is no object.
    static func find(in json: UnsafeRawBufferPointer) -> Double? {
        (try? JSONCodec.decode(Fields.self, from: json))?.end
    }

    static func isEnd(_ name: String) -> Bool {
        names.contains(String(name.lowercased().filter { $0 != "_" && $0 != "-" }))
    }

    /// A time as text, or as a number written as text.
    static func seconds(in text: String) -> Double? {
        if let number = Double(text) { return seconds(number) }
        return MillisecondTime.date(text)?.timeIntervalSince1970
    }

    /// Seconds or milliseconds since 1970; what is neither, such as a lifetime in seconds, is no time.
    static func seconds(_ number: Double) -> Double? {
        // From 2001 to 2286 in seconds; the same in milliseconds.
        if (1e9..<1e10).contains(number) { return number }
        return (1e12..<1e13).contains(number) ? number / 1000 : nil
    }
}
