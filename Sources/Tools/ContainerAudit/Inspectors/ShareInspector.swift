/// How much of a container that seals lies open all the same.
struct ShareInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        let open = Self.bytes(seen.files) { $0.isPlaintext }
        let sealed = Self.bytes(seen.files) { $0.kind.isSealed }
        // Of a container that seals nothing, or leaves little open, each file says so.
        guard sealed > 0, open >= Self.leastBytes else { return [] }
        let share = Int((Double(open) / Double(open + sealed) * 100).rounded())
        guard share >= Self.leastShare else { return [] }
        let text = share == 100 ? "More than 99" : "\(share)"
        return [
            AuditCheck.plaintextShare.finding(
                at: FindingPlace(".", in: seen.scope),
                "\(text) % of the bytes lie open: \(open) of \(open + sealed).")
        ]
    }

    private static let leastBytes: Int64 = 64 << 10
    /// In hundredths.
    private static let leastShare = 10

    private static func bytes(_ files: [AuditedFile], _ isCounted: (AuditedFile) -> Bool) -> Int64 {
        files.reduce(0) { isCounted($1) ? $0 + $1.storedSize : $0 }
    }
}
