import Testing

/// Expects two byte arrays to be equal. For megabytes, a failing `#expect(one == other)` would search for the shortest
/// edit script and not return.
func expectSame(_ found: [UInt8], _ expected: some Collection<UInt8>, sourceLocation: SourceLocation = #_sourceLocation)
{
    let expected = Array(expected)
    if found == expected { return }
    let place = zip(found, expected).prefix { $0 == $1 }.count
    Issue.record(
        "\(found.count) bytes, expected \(expected.count); they differ from byte \(place) on",
        sourceLocation: sourceLocation)
}
