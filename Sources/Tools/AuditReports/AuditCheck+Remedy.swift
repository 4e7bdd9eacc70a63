internal import ContainerAudit

extension AuditCheck {
    /// The remedy without a specific file.
    package var remedyText: String {
        ["file": "FILE", "group": "GROUP"].reduce(remedy) { text, place in
            var parts: [Substring] = []
            var rest = text[...]
            while let range = rest.firstRange(of: "{\(place.key)}") {
                parts += [rest[..<range.lowerBound], place.value[...]]
                rest = rest[range.upperBound...]
            }
            return (parts + [rest]).joined()
        }
    }
}
