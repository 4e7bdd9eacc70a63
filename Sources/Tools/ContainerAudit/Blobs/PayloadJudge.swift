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
