// The alphabet of identifiers. ASCII only: two identifiers that look alike are then alike, and no file system
// normalises one into the other.
extension UInt8 {
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }

    var isUpperCaseLetterOrDigit: Bool { isDigit || (self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z")) }

    var isLetterOrDigit: Bool {
        isUpperCaseLetterOrDigit || (self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z"))
    }

    var isAllowedInIdentifier: Bool {
        isLetterOrDigit || self == UInt8(ascii: ".") || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
    }
}
