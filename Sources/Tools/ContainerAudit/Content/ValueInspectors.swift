internal import ContentDecoding
internal import SharedFiles

/// A fault in one value. The scan adds its place to make it a finding, and drops ignored ones.
struct ContentHit {
    let check: AuditCheck
    var severity: Severity?
    var confidence: Confidence = .certain
    /// The description as a sentence; never the value.
    let detail: String
    var remedy: String?
    /// The relevant part of the value's bytes, whose keyed hash is part of the fingerprint; `nil` for the whole value.
    var range: Range<Int>?
}

/// Inspects the values of one file beyond the search for secrets: names, switches, the containing store.
protocol ValueInspector: SendableMetatype {
    /// Creates an inspector for one file, or `nil` if it does not apply to the file.
    init?(_ subject: AuditSubject, in scope: AuditScope)
    mutating func inspect(_ leaf: DecodedValue) -> [ContentHit]
    /// Returns the hits of the whole file, after every value was visited.
    mutating func conclude() -> [ContentHit]
}

extension ValueInspector {
    mutating func conclude() -> [ContentHit] { [] }
}

/// The inspectors of values, in the order of their calls.
enum ValueInspectors {
    static let all: [any ValueInspector.Type] = [
        SwitchInspector.self, DatabaseInspector.self, CookieInspector.self, KeyValueInspector.self,
    ]
}

/// Bare keys among the values of a structure: random bytes of a key's size under the name of a key. The search for
/// secrets covers keys in letters.
struct KeyValueInspector: ValueInspector {
    init?(_ subject: AuditSubject, in scope: AuditScope) {}

    func inspect(_ leaf: DecodedValue) -> [ContentHit] {
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

/// Session cookies that may be sent unencrypted, or read by scripts.
///
/// It depends on the order in which the reader of cookie files hands out a cookie: its flags, then `path`, then its
/// value.
struct CookieInspector: ValueInspector {
    private var isSecure = true
    private var isHTTPOnly = true
    private var isValueNext = false

    init?(_ subject: AuditSubject, in scope: AuditScope) {}

    mutating func inspect(_ leaf: DecodedValue) -> [ContentHit] {
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

    /// Returns whether a name is one of session cookies in common servers: `JSESSIONID`, `connect.sid`, `auth_token`.
    static func isSession(_ name: String) -> Bool {
        let name = name.lowercased()
        // Scripts must be able to read tokens against request forgery.
        guard !name.contains("csrf"), !name.contains("xsrf") else { return false }
        if ["sid", "ssid", "sessid", "jwt", "auth", "token"].contains(name) || name.hasSuffix(".sid") { return true }
        return [
            "session", "sessid", "auth_token", "authtoken", "access_token", "accesstoken", "refresh_token", "id_token",
        ]
        .contains { name.contains($0) }
    }
}

/// Facts about an SQLite file as a store: deleted values that remain, values in its log, and Core Data as its creator.
struct DatabaseInspector: ValueInspector {
    private var freed = 0
    private var logged = 0
    private var isCoreData = false
    /// True for a log with frames. A database that is read with its log shows the newest version of a row, which then
    /// exists only in the log.
    private let isFilledLog: Bool

    /// The size of a log's header and of a frame's: https://sqlite.org/fileformat2.html, section 4.1.
    private static let emptyLog: Int64 = 32 + 24

    init?(_ subject: AuditSubject, in scope: AuditScope) {
        guard subject.content == .sqlite || FileNames.isJournal(subject.entry.leaf) else { return nil }
        isFilledLog = subject.content == .sqlite && !subject.isDatabase && subject.attributes.size > Self.emptyLog
    }

    mutating func inspect(_ leaf: DecodedValue) -> [ContentHit] {
        switch leaf.presence {
        case .live: break
        case .logged: logged += 1
        case .freed: freed += Self.isInformative(leaf.value) ? 1 : 0
        }
        if !isCoreData, leaf.form == .sqlite, let name = leaf.name { isCoreData = name.elementsEqual("Z_PK".utf8) }
        return []
    }

    func conclude() -> [ContentHit] {
        var hits: [ContentHit] = []
        if freed > 0 {
            hits.append(
                ContentHit(
                    check: .databaseFreed, confidence: .likely,
                    detail: "At least \(freed.counted("value")) can be read."))
        }
        if logged > 0 {
            let values = logged.counted("value")
            hits.append(ContentHit(check: .databaseLogged, detail: "\(values), older ones of the same row among them."))
        } else if isFilledLog {
            hits.append(ContentHit(check: .databaseLogged, detail: "The latest values may be only there."))
        }
        if isCoreData { hits.append(ContentHit(check: .databaseCoreData, detail: "Its tables are Core Data's.")) }
        return hits
    }

    /// Returns whether a value is significant. Numbers and fragments of a few bytes are in every reused page.
    private static func isInformative(_ value: DecodedValue.Value) -> Bool {
        switch value {
        case .text(let bytes), .data(let bytes): bytes.count >= 4
        case .strings, .block, .number, .flag: false
        }
    }
}
