/// Areas in proportion to weights, as nearly square as they can be.
///
/// The algorithm is that of Bruls, Huizing and van Wijk, "Squarified Treemaps" (2000).
struct Treemap {
    /// A part of a drawing.
    struct Area {
        var x, y, width, height: Double

        /// Without a margin on every side; nothing is left of one that is too small.
        func inset(top: Double, side: Double) -> Area {
            Area(
                x: x + side, y: y + top, width: max(0, width - 2 * side), height: max(0, height - top - side))
        }
    }

    private var rest: Area
    private var areas: [Area] = []

    /// An area for each weight.
    ///
    /// - Parameter weights: Above 0, the largest first.
    static func areas(for weights: [Double], in whole: Area) -> [Area] {
        let total = weights.reduce(0, +)
        guard total > 0, whole.width > 0, whole.height > 0 else { return [] }
        let scale = whole.width * whole.height / total
        var map = Treemap(rest: whole)
        map.fill(weights.map { $0 * scale })
        return map.areas
    }

    private init(rest: Area) { self.rest = rest }

    /// Takes sizes into a row along the shorter side for as long as that makes the row's worst area squarer.
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
            lay(sizes[start..<end], sum: sum)
            start = end
        }
    }

    /// The longest side of a row's areas in proportion to their shorter one.
    private static func worst(_ largest: Double, _ smallest: Double, _ sum: Double, _ side: Double) -> Double {
        let square = side * side
        return max(square * largest / (sum * sum), sum * sum / (square * smallest))
    }

    private mutating func lay(_ row: ArraySlice<Double>, sum: Double) {
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
