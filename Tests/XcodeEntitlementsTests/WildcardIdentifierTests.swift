import Testing

@testable import XcodeEntitlements

@Suite struct WildcardIdentifierTests {
    @Test(arguments: [
        ("ABCDE12345.com.example.app", "ABCDE12345.com.example.app"),
        ("ABCDE12345.com.example.*", "ABCDE12345.com.example.app"),
        ("ABCDE12345.com.example.*", "ABCDE12345.com.example.app.widget"),
        ("ABCDE12345.*", "ABCDE12345.com.example.app"), ("*", "com.example.app"),
    ])
    func aPatternMatches(_ pattern: String, _ identifier: String) {
        #expect(WildcardIdentifier(pattern).matches(identifier))
    }

    @Test(arguments: [
        ("ABCDE12345.com.example.app", "ABCDE12345.com.example.App"),
        ("ABCDE12345.com.example.app", "ABCDE12345.com.example.app.widget"),
        ("ABCDE12345.com.example.*", "ABCDE12345.com.example"), ("ABCDE12345.com.example.*", "ABCDE12345.com.example."),
        ("ABCDE12345.com.example.*", "ABCDE12345.com.examples.app"), ("ABCDE12345.*", "ABCDE12346.com.example.app"),
        ("ABCDE12345.*.app", "ABCDE12345.com.app"), ("", "com.example.app"), ("*", ""),
        // Equal as `String`s, but not as bytes of a file.
        ("caf\u{E9}", "cafe\u{301}"),
    ])
    func aPatternDoesNotMatch(_ pattern: String, _ identifier: String) {
        #expect(!WildcardIdentifier(pattern).matches(identifier))
    }
}
