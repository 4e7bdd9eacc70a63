internal import ContentDecoding

/// Says what of a file was not read, in one finding.
struct UnreadParts {
    private let parts: [CarrierBudget.Unread]

    init(_ parts: [CarrierBudget.Unread]) { self.parts = parts }

    /// How many parts a finding spells out.
    private static let most = 4

    func report(to found: LeafFindings) {
        guard !parts.isEmpty else { return }
        let shown = parts.prefix(Self.most).map { part in
            part.place.isEmpty ? part.fault.reason : "\(part.place): \(part.fault.reason)"
        }
        let rest = parts.count > Self.most ? ["More parts of it were not read."] : []
        found.add(
            ContentHit(
                check: .contentPartlyRead, severity: isHarmless ? .info : nil,
                detail: (shown + rest).joined(separator: " "), remedy: nil, range: nil))
    }

    /// A form that nobody reads hides no more than the same bytes sealed by somebody else would.
    private var isHarmless: Bool {
        parts.allSatisfy { if case .unsupported = $0.fault { true } else { false } }
    }
}
