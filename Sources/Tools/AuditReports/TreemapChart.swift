internal import ContainerAudit
internal import SharedFiles

/// The container as areas: kinds of files, and in each the files, in proportion to their bytes.
struct TreemapChart {
    /// The sizes of the drawings. Text scales with a drawing, so a narrow screen gets its own.
    private static let sheets = [("wide", 1120.0, 380.0), ("narrow", 420.0, 520.0)]
    /// The number of files of a kind that have a tile. The other files share one area.
    private static let limit = 120

    private let view: AuditView
    private let worst: [String: Severity]
    private let numbers: [String: Int]

    init(_ view: AuditView) {
        self.view = view
        worst = view.report.findings.reduce(into: [:]) { worst, finding in
            worst[finding.path] = max(worst[finding.path] ?? .info, finding.severity)
        }
        numbers = view.report.findings.reduce(into: [:]) { $0[$1.path, default: 0] += 1 }
    }

    var html: String {
        guard view.totalBytes > 0 else { return "" }
        let drawings = Self.sheets.map { svg($0.0, $0.1, $0.2) }.joined(separator: "\n")
        return """
            <section class="card treemap" aria-labelledby="by-kind">
            <h2 id="by-kind">Contents by size</h2>
            \(drawings)
            \(PageCounts(view).legend)
            </section>
            """
    }

    private func svg(_ name: String, _ width: Double, _ height: Double) -> String {
        let kinds = KindSummary.all(of: view).filter { $0.total.bytes > 0 }
        let areas = Treemap.areas(
            for: kinds.map { Double($0.total.bytes) }, in: .init(x: 0, y: 0, width: width, height: height))
        let files = Dictionary(grouping: view.report.files.filter { $0.storedSize > 0 }, by: \.kind)
        let groups = zip(kinds, areas).map { kind, area in group(kind, files[kind.total.kind] ?? [], in: area) }
        return """
            <svg class="\(name)" viewBox="0 0 \(Int(width)) \(Int(height))" role="group" aria-label="Files by kind and size">
            \(groups.joined(separator: "\n"))
            </svg>
            """
    }

    private func group(_ kind: KindSummary, _ files: [AuditedFile], in area: Treemap.Area) -> String {
        let title = "\(KindText.text(kind.total.kind)), \(ByteText.text(kind.total.bytes))"
        let hasTitle = area.width > 46 && area.height > 34
        let inner = area.inset(top: hasTitle ? 20 : 2, side: 2)
        let label = hasTitle ? text(title, x: area.x + 5, y: area.y + 14, width: area.width - 8, "kind") : ""
        let tiles = tiles(files)
        let parts = zip(tiles, Treemap.areas(for: tiles.map(\.weight), in: inner)).map { draw($0, in: $1) }
        return """
            <g class="\(KindText.group(kind.total.kind))"><title>\(XMLText.escaped(title)), \
            \(FindingText.count(kind.total.files, "file"))</title>\(label)\(parts.joined())</g>
            """
    }

    // MARK: - Tiles

    private struct Tile {
        let name: String
        let title: String
        let weight: Double
        var path: String?
        var worst: Severity?
    }

    private func tiles(_ files: [AuditedFile]) -> [Tile] {
        let sorted = files.sorted { ($1.storedSize, $0.path) < ($0.storedSize, $1.path) }
        var tiles = sorted.prefix(Self.limit).map { file in
            let worst = worst[file.path]
            let name = file.path.split(separator: "/").last.map { String($0) } ?? file.path
            let title = "\(file.path), \(ByteText.text(file.storedSize))" + (worst.map { ", \($0)" } ?? "")
            return Tile(
                name: name, title: title, weight: Double(file.storedSize), path: worst == nil ? nil : file.path,
                worst: worst)
        }
        if sorted.count > Self.limit { tiles.append(rest(sorted.dropFirst(Self.limit))) }
        return tiles.sorted { $0.weight > $1.weight }
    }

    /// Returns the tile of the files that have no tile of their own.
    private func rest(_ files: ArraySlice<AuditedFile>) -> Tile {
        let bytes = files.reduce(0) { $0 + $1.storedSize }
        let findings = files.reduce(0) { $0 + (numbers[$1.path] ?? 0) }
        let gravest = files.compactMap { worst[$0.path] }.max()
        let name = FindingText.count(files.count, "more file")
        let count = findings == 0 ? "" : ", \(FindingText.count(findings, "finding"))"
        let title = "\(name), \(ByteText.text(bytes))\(count)" + (gravest.map { ", \($0)" } ?? "")
        return Tile(name: name, title: title, weight: Double(bytes), worst: gravest)
    }

    private func draw(_ tile: Tile, in area: Treemap.Area) -> String {
        guard area.width > 0.4, area.height > 0.4 else { return "" }
        let gap = min(area.width, area.height) > 6 ? 1.0 : 0.2
        let box = area.inset(top: gap, side: gap)
        var parts = """
            <rect \(attributes(of: box))\(tile.worst.map { " class=\"\($0)\"" } ?? "")><title>\
            \(XMLText.escaped(tile.title.printable))</title></rect>
            """
        if box.width > 34, box.height > 18 {
            parts += text(tile.name, x: box.x + 5, y: box.y + 14, width: box.width - 10, "file")
        }
        guard let path = tile.path else { return parts }
        // The link leads to the findings. The script filters them by the file.
        return "<a href=\"#findings\" data-path=\"\(XMLText.escaped(path.printable))\">\(parts)</a>"
    }

    private func attributes(of area: Treemap.Area) -> String {
        let values = [("x", area.x), ("y", area.y), ("width", area.width), ("height", area.height)]
        return values.map { "\($0.0)=\"\(DrawnNumber.text($0.1))\"" }.joined(separator: " ") + " rx=\"2\""
    }

    /// Returns the part of a text that fits, estimated by the width of an average letter.
    private func text(_ text: String, x: Double, y: Double, width: Double, _ style: String) -> String {
        let room = Int(width / 6.4)
        let plain = text.printable
        guard room > 2 else { return "" }
        let fitting = plain.count <= room ? plain : plain.prefix(room - 1) + "…"
        return """
            <text class="\(style)" x="\(DrawnNumber.text(x))" y="\(DrawnNumber.text(y))" aria-hidden="true">\
            \(XMLText.escaped(fitting))</text>
            """
    }
}

/// Areas in proportion to weights, as nearly square as they can be.
///
/// The algorithm is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
struct Treemap {
    /// A part of a drawing.
    struct Area {
        var x, y, width, height: Double

        /// Returns the area without a margin on every side. An area that is too small becomes empty.
        func inset(top: Double, side: Double) -> Area {
            Area(
                x: x + side, y: y + top, width: max(0, width - 2 * side), height: max(0, height - top - side))
        }
    }

    private var rest: Area
    private var areas: [Area] = []

    /// Returns an area for each weight.
    ///
    /// - Parameter weights: Values above 0, the largest first.
    static func areas(for weights: [Double], in whole: Area) -> [Area] {
        let total = weights.reduce(0, +)
        guard total > 0, whole.width > 0, whole.height > 0 else { return [] }
        let scale = whole.width * whole.height / total
        var map = Treemap(rest: whole)
        map.fill(weights.map { $0 * scale })
        return map.areas
    }

    private init(rest: Area) { self.rest = rest }

    /// Adds sizes to a row along the shorter side as long as the row's worst area becomes squarer.
    private mutating func fill(_ sizes: [Double]) {
        var start = 0
        while start < sizes.count {
            let side = min(rest.width, rest.height)
            var end = start + 1
            var sum = sizes[start]
            var worst = Self.worst(sizes[start], sizes[start], sum, side)
            while end < sizes.count {
                let next = Self.worst(sizes[start], sizes[end], sum + sizes[end], side)
                if next > worst { break }
                worst = next
                sum += sizes[end]
                end += 1
            }
            layOut(sizes[start..<end], sum: sum)
            start = end
        }
    }

    /// Returns the worst ratio of the longer to the shorter side of a row's areas.
    private static func worst(_ largest: Double, _ smallest: Double, _ sum: Double, _ side: Double) -> Double {
        let square = side * side
        return max(square * largest / (sum * sum), sum * sum / (square * smallest))
    }

    private mutating func layOut(_ row: ArraySlice<Double>, sum: Double) {
        let isTall = rest.width < rest.height
        let side = max(isTall ? rest.width : rest.height, .leastNonzeroMagnitude)
        let thickness = sum / side
        var position = 0.0
        for size in row {
            let length = thickness > 0 ? size / thickness : 0
            areas.append(
                isTall
                    ? Area(x: rest.x + position, y: rest.y, width: length, height: thickness)
                    : Area(x: rest.x, y: rest.y + position, width: thickness, height: length))
            position += length
        }
        if isTall {
            rest.y += thickness
            rest.height = max(0, rest.height - thickness)
        } else {
            rest.x += thickness
            rest.width = max(0, rest.width - thickness)
        }
    }
}
