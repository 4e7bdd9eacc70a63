/// Payment card numbers.
enum CardNumber {
    /// Returns whether the text is 13 to 19 digits, optionally in groups, of a known network, with the right check
    /// digit, and not a published test number.
    static func isOne(_ text: SearchText) -> Bool {
        guard text.count <= 23 else { return false }
        var digits: [UInt8] = []
        for byte in text.bytes {
            if ByteClass.digit.contains(byte) {
                digits.append(byte - 48)
            } else if byte != UInt8(ascii: " "), byte != UInt8(ascii: "-") {
                return false
            }
        }
        guard (13...19).contains(digits.count), isOfNetwork(digits), Set(digits).count > 3, checks(digits) else {
            return false
        }
        return !tests.contains(digits.reduce(0) { $0 &* 10 &+ UInt64($1) })
    }

    /// Returns whether the check digit is right: ISO/IEC 7812-1, annex B (Luhn).
    private static func checks(_ digits: [UInt8]) -> Bool {
        var sum = 0
        for (place, digit) in digits.reversed().enumerated() {
            let value = place % 2 == 1 ? Int(digit) * 2 : Int(digit)
            sum += value > 9 ? value - 9 : value
        }
        return sum % 10 == 0
    }

    private static func isOfNetwork(_ digits: [UInt8]) -> Bool {
        let two = digits[0] * 10 + digits[1]
        switch digits[0] {
        case 4: return [13, 16, 19].contains(digits.count)
        case 5: return digits.count == 16 && (50...58).contains(two)
        case 2: return digits.count == 16 && (22...27).contains(two)
        case 3: return [30, 34, 35, 36, 37, 38].contains(two)
        case 6: return [60, 62, 64, 65].contains(two)
        default: return false
        }
    }

    /// Test numbers that payment services publish.
    private static let tests: Set<UInt64> = [
        4_242_424_242_424_242, 4_111_111_111_111_111, 5_555_555_555_554_444, 378_282_246_310_005, 371_449_635_398_431,
        4_000_056_655_665_556, 6_011_111_111_111_117, 6_011_000_990_139_424, 3_566_002_020_360_505,
        5_105_105_105_105_100,
        4_012_888_888_881_881, 30_569_309_025_904, 38_520_000_023_237, 5_200_828_282_828_210, 4_000_000_000_000_002,
    ]
}

/// United States social security numbers.
enum SocialSecurityNumber {
    /// Returns whether the text is `AAA-GG-SSSS` with no part all zero, an area other than 666 and below 900, and not a
    /// number from an advertisement.
    static func isOne(_ text: SearchText) -> Bool {
        let digits = text.bytes.filter(ByteClass.digit.contains).map { Int($0 - 48) }
        guard digits.count == 9, text.count == 9 || text.count == 11 else { return false }
        if text.count == 11 {
            guard text[3] == text[6], text[3] == UInt8(ascii: "-") || text[3] == UInt8(ascii: " ") else { return false }
        }
        let area = digits[0] * 100 + digits[1] * 10 + digits[2]
        let serial = digits[5...].reduce(0) { $0 * 10 + $1 }
        let number = area * 1_000_000 + (digits[3] * 10 + digits[4]) * 10_000 + serial
        return area != 0 && area != 666 && area < 900 && digits[3] + digits[4] != 0 && serial != 0
            && ![123_456_789, 78_051_120, 219_099_999].contains(number) && Set(digits).count > 2
    }
}
