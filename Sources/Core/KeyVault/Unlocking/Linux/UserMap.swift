internal import SharedFiles

/// Which users of the enclosing user namespace the users of this one are, user_namespaces(7).
///
/// Who is root in a container of their own is the same person outside it, under another number.
struct UserMap: Sendable {
    private struct Line {
        let inside: UInt32
        let outside: UInt32
        let count: UInt32
    }

    private let lines: [Line]

    /// Everybody keeps their number where the system does not tell.
    static let ofThisProcess = UserMap(read() ?? "")

    /// - Parameter text: What `/proc/self/uid_map` holds: in each line a number inside, a number outside, a count.
    init(_ text: String) {
        lines = text.split(separator: "\n").compactMap { line in
            let numbers = line.split(separator: " ").compactMap { UInt32($0) }
            return numbers.count == 3 ? Line(inside: numbers[0], outside: numbers[1], count: numbers[2]) : nil
        }
    }

    /// The user's number outside; the same number for one who does not exist there.
    func outside(_ user: UInt32) -> UInt32 {
        for line in lines where user >= line.inside && user - line.inside < line.count {
            return line.outside &+ (user - line.inside)
        }
        return user
    }

    private static func read() -> String? {
        guard let file = try? Descriptor.openForReading(path: "/proc/self/uid_map") else { return nil }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            guard let count = try? file.read(into: buffer) else { return nil }
            return String(decoding: buffer[0..<count], as: UTF8.self)
        }
    }
}
