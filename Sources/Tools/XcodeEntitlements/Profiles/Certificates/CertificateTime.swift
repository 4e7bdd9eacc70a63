internal import PropertyLists
internal import SwiftASN1

/// The times of certificates: two digits of the year up to 2049, four after that (RFC 5280, section 4.1.2.5).
enum CertificateTime {
    static func date(_ node: ASN1Node?) throws -> PropertyListDate {
        let node = try ASN1Reading.required(node)
        if node.identifier == .utcTime {
            let time = try UTCTime(derEncoded: node)
            return try date([time.year, time.month, time.day], [time.hours, time.minutes, time.seconds])
        }
        let time = try GeneralizedTime(derEncoded: node)
        return try date([time.year, time.month, time.day], [time.hours, time.minutes, time.seconds])
    }

    private static func date(_ day: [Int], _ time: [Int]) throws -> PropertyListDate {
        let digits = (day + time).map { $0 < 10 ? "0\($0)" : "\($0)" }
        var text = "\(digits[0])-\(digits[1])-\(digits[2])T\(digits[3]):\(digits[4]):\(digits[5])Z"
        guard let date = text.withUTF8({ CivilTime(UnsafeRawBufferPointer($0))?.date }) else {
            throw ASN1Error.invalidASN1Object(reason: "a time that no calendar has")
        }
        return date
    }
}
