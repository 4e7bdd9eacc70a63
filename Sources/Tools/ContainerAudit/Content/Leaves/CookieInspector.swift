internal import ContentDecoding

/// Cookies of sessions that may be sent in the open, or read by scripts.
///
/// It goes by the order in which the reader of cookie files hands out a cookie: its flags, then `path`, then its value.
struct CookieInspector: LeafInspector {
    private var isSecure = true
    private var isHTTPOnly = true
    private var isValueNext = false

    init?(_ subject: AuditSubject, in scope: AuditScope) {}

    mutating func inspect(_ leaf: Leaf) -> [ContentHit] {
        guard leaf.form == .cookies, let name = leaf.name else { return [] }
        if isValueNext {
            isValueNext = false
            return judge(String(decoding: name, as: UTF8.self))
        }
        switch leaf.value {
        case .flag(let flag) where name.elementsEqual("secure".utf8): isSecure = flag
        case .flag(let flag) where name.elementsEqual("httpOnly".utf8): isHTTPOnly = flag
        case .text where name.elementsEqual("path".utf8): isValueNext = true
        default: break
        }
        return []
    }

    private func judge(_ name: String) -> [ContentHit] {
        guard Self.isSession(name), !isSecure || !isHTTPOnly else { return [] }
        let lacks = [isSecure ? nil : "Secure", isHTTPOnly ? nil : "HttpOnly"].compactMap(\.self)
        return [
            ContentHit(
                check: .cookieFlags, severity: isSecure ? .low : nil, confidence: .likely,
                detail: "It lacks \(lacks.joined(separator: " and ")).")
        ]
    }

    /// Names that cookies of sessions go by in common servers: `JSESSIONID`, `connect.sid`, `auth_token`.
    static func isSession(_ name: String) -> Bool {
        let name = name.lowercased()
        // What protects against forged requests is meant to be read by scripts.
        guard !name.contains("csrf"), !name.contains("xsrf") else { return false }
        if ["sid", "ssid", "sessid", "jwt", "auth", "token"].contains(name) || name.hasSuffix(".sid") { return true }
        return [
            "session", "sessid", "auth_token", "authtoken", "access_token", "accesstoken", "refresh_token", "id_token",
        ]
        .contains { name.contains($0) }
    }
}
