internal import ContentDecoding

/// Bare keys among the values of a structure: random bytes of a key's size under the name of a key. The search for secrets
/// sees those that are written in letters.
struct KeyValueInspector: LeafInspector {
    init?(_ subject: AuditSubject, in scope: AuditScope) {}

    func inspect(_ leaf: Leaf) -> [ContentHit] {
        guard case .data(let bytes) = leaf.value, let name = leaf.name, name.count <= 64, KeyMaterial.isRaw(bytes),
            FileNames.isKey(String(decoding: name, as: UTF8.self))
        else { return [] }
        let severity = leaf.presence == .freed ? AuditCheck.rawKeyValue.severity.lowered : nil
        return [
            ContentHit(
                check: .rawKeyValue, severity: severity, confidence: .likely,
                detail: "It is \(bytes.count * 8) bits long.")
        ]
    }
}
