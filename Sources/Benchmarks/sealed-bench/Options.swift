/// What the command line asks for.
struct Options {
    static let usage = """
        usage: sealed-bench [--filter TEXT] [--rounds N] [--directory DIR] [--json] [--check]

        Measures SealedState against the same calls made from C, and sealctl against age. See docs/benchmarks.md.

          --filter TEXT      only operations whose name contains TEXT
          --rounds N         rounds of each comparison; 101 unless given
          --directory DIR    where records are written; beside the program unless given
          --json             the results for machines
          --check            exit status 1 when a target is missed
        """

    var filter = ""
    var rounds = 101
    var directory: String?
    var isJSON = false
    var isChecking = false

    /// Reads the arguments; nil when they make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--json": isJSON = true
            case "--check": isChecking = true
            case "--filter":
                guard let text = rest.next() else { return nil }
                filter = text
            case "--rounds":
                guard let count = rest.next().flatMap({ Int($0) }), count > 0 else { return nil }
                rounds = count
            case "--directory":
                guard let path = rest.next() else { return nil }
                directory = path
            default: return nil
            }
        }
    }
}
