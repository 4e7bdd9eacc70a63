/// An Aho-Corasick automaton over bytes: finds all keywords in one pass, one table lookup for each byte.
///
/// Keywords match in any case, and a caller that distinguishes case compares the bytes of a hit. Bytes that occur in no
/// keyword share a class, so that rows have few columns. States at the end of a keyword have the highest bit set.
/// Source: A. V. Aho and M. J. Corasick, Efficient String Matching, CACM 18 (1975).
// Unchecked: immutable after its initialisation.
final class KeywordAutomaton: @unchecked Sendable {
    typealias State = UInt16
    static let accepting: State = 0x8000
    static let columns = 64

    /// A keyword that ends in a state. It consists of plain bytes, so a hit costs no reference counting.
    struct Ending {
        let role: Keyword.Role
        let length: Int
        /// The offset of its bytes in `letters` for case-sensitive keywords; -1 for others.
        fileprivate let letters: Int
    }

    /// The class of each byte.
    let classes: UnsafePointer<UInt8>
    /// The rows of transitions, each `columns` wide.
    let table: UnsafePointer<State>
    /// The index in `endings` of each state's first keyword, with one more at the end.
    private let starts: UnsafePointer<Int32>
    private let endings: UnsafePointer<Ending>
    private let letters: UnsafePointer<UInt8>

    init(_ keywords: [Keyword]) {
        var trie = KeywordTrie()
        for (index, keyword) in keywords.enumerated() { trie.insert(keyword.bytes, index) }
        trie.link()
        let (table, starts, endings) = trie.flattened()
        var places: [Int] = []
        var letters: [UInt8] = []
        for keyword in keywords {
            places.append(letters.count)
            letters += keyword.bytes
        }
        self.classes = Self.kept(trie.classes)
        self.table = Self.kept(table)
        self.starts = Self.kept(starts)
        self.letters = Self.kept(letters)
        self.endings = Self.kept(
            endings.map { index in
                let keyword = keywords[Int(index)]
                return Ending(
                    role: keyword.role, length: keyword.bytes.count, letters: keyword.isExact ? places[Int(index)] : -1)
            })
    }

    deinit {
        classes.deallocate()
        table.deallocate()
        starts.deallocate()
        endings.deallocate()
        letters.deallocate()
    }

    private static func kept<Element>(_ elements: [Element]) -> UnsafePointer<Element> {
        let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(1, elements.count))
        memory.initialize(from: elements, count: elements.count)
        return UnsafePointer(memory)
    }

    /// Returns the state after a byte.
    @inline(__always) func next(_ state: State, _ byte: UInt8) -> State {
        table[Int(state & ~Self.accepting) &* Self.columns &+ Int(classes[Int(byte)])]
    }

    /// Returns the keywords that end in a state.
    @inline(__always) func endings(in state: State) -> UnsafeBufferPointer<Ending> {
        let row = Int(state & ~Self.accepting)
        return UnsafeBufferPointer(start: endings + Int(starts[row]), count: Int(starts[row + 1] - starts[row]))
    }

    /// Returns whether the keyword that ends at a position matches in case, if its case matters.
    @inline(__always) func isThere(_ ending: Ending, in text: SearchText, endingAt end: Int) -> Bool {
        guard ending.letters >= 0 else { return true }
        let start = end - ending.length
        guard start >= 0 else { return false }
        for index in 0..<ending.length where text.bytes[start + index] != letters[ending.letters + index] {
            return false
        }
        return true
    }
}

/// A text that must occur in the bytes before a more expensive check examines them.
struct Keyword: Sendable {
    let bytes: [UInt8]
    /// True if case matters.
    let isExact: Bool
    let role: Role

    /// The role of a keyword.
    enum Role: Sendable {
        /// A secret, to be checked by the detector with this index.
        case detector(Int32)
        /// A part of a secret's name.
        case name
        /// A carrier or a secret in letters. `isStart` is true if it begins with the keyword.
        case wrapped(WrappedRun.Encoding, isStart: Bool)
        /// A JSON escape that may hide a letter of a secret.
        case escape
    }

    init(_ bytes: [UInt8], isExact: Bool = true, _ role: Role) {
        self.bytes = bytes
        self.isExact = isExact
        self.role = role
    }

    init(_ text: String, isExact: Bool = true, _ role: Role) {
        self.init(Array(text.utf8), isExact: isExact, role)
    }
}
