/// The information that members of one object give about each other: `{"name": "token", "value": "…"}` contains a value
/// called `token`, and `{"kty": "RSA", "d": "…"}` the private part of a key.
struct SiblingNames {
    /// The role of a member, determined by its key without regard to case.
    enum Role {
        /// The member's text is the name of the value.
        case name
        /// The member's text, such as the place of an account, is a prefix of the name.
        case service
        case value
        case keyType
        case privatePart
        /// The key `k`, which is either.
        case nameOrPrivatePart

        var isName: Bool { self == .name || self == .service || self == .nameOrPrivatePart }
        var isPrivatePart: Bool { self == .privatePart || self == .nameOrPrivatePart }
    }

    /// The limit on a name's length.
    static let longestName = 96

    private var name: [UInt8] = []
    private var service: [UInt8] = []
    private var isWebKey = false

    static func role(of key: UnsafeRawBufferPointer) -> Role? {
        guard key.count < roles.count else { return nil }
        return roles[key.count].first { spelling, _ in
            zip(key, spelling).allSatisfy { 0x41...0x5A ~= $0 ? $0 | 0x20 == $1 : $0 == $1 }
        }?.1
    }

    /// Records the information that a member's text gives about the others.
    mutating func learn(_ text: UnsafeRawBufferPointer, _ role: Role) {
        if role == .keyType { isWebKey = true }
        guard role.isName, 1...Self.longestName ~= text.count, !text.contains(where: { $0 < 0x20 }) else { return }
        if role == .service { return service = Array(text) }
        // A name for programs is preferred to a name for people.
        if name.isEmpty || name.contains(0x20) && !text.contains(0x20) { name = Array(text) }
    }

    /// Returns the name that the known members give a member, or `nil` if only its key names it.
    func name(of role: Role, key: UnsafeRawBufferPointer) -> [UInt8]? {
        if isWebKey, role.isPrivatePart { return Array("jwk.".utf8) + key }
        guard role == .value, !(name.isEmpty && service.isEmpty) else { return nil }
        return service.isEmpty || name.isEmpty ? service + name : service + [0x20] + name
    }

    /// Records a member as `learn(_:_:)` does, for text that must be fetched.
    mutating func learn(key: String, text: () -> String?) {
        var key = key
        guard let role = key.withUTF8({ Self.role(of: UnsafeRawBufferPointer($0)) }), role.isName || role == .keyType,
            var text = text()
        else { return }
        text.withUTF8 { learn(UnsafeRawBufferPointer($0), role) }
    }

    /// Returns the name that the other members give a key's member, and the words for its trail.
    func called(_ key: String) -> (name: String, words: String?)? {
        var key = key
        return key.withUTF8 { key in
            let key = UnsafeRawBufferPointer(key)
            guard let role = Self.role(of: key), let name = name(of: role, key: key) else { return nil }
            return (String(decoding: name, as: UTF8.self), role == .value ? Self.words(for: name) : nil)
        }
    }

    /// Returns the words for the trail of a value with this name, or `nil` if the name may be a secret or an address.
    ///
    /// Names are words with few digits. Random strings change often between lowercase and capitals.
    static func words(for name: [UInt8]) -> String? {
        guard name.count <= 48, let first = name.first, isLetter(first) else { return nil }
        guard name.allSatisfy({ isLetter($0) || 0x30...0x39 ~= $0 || "_-. ".utf8.contains($0) }) else { return nil }
        let turns = zip(name, name.dropFirst()).count { isSmall($0) && isLetter($1) && !isSmall($1) }
        return name.count { 0x30...0x39 ~= $0 } <= 2 && turns <= 4 ? String(decoding: name, as: UTF8.self) : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte | 0x20 }
    private static func isSmall(_ byte: UInt8) -> Bool { 0x61...0x7A ~= byte }

    /// The roles, indexed by the length of the keys.
    private static let roles: [[([UInt8], Role)]] = {
        let all: [(String, Role)] = [
            ("d", .privatePart), ("k", .nameOrPrivatePart), ("v", .value), ("key", .name), ("val", .value),
            ("kty", .keyType), ("name", .name), ("acct", .name), ("data", .value), ("svce", .service),
            ("value", .value), ("v_data", .value), ("account", .name), ("setting", .name), ("attribute", .name),
        ]
        var roles = [[([UInt8], Role)]](repeating: [], count: 10)
        for (key, role) in all { roles[key.utf8.count].append((Array(key.utf8), role)) }
        return roles
    }()
}
