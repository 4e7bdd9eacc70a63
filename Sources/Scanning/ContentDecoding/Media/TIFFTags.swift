/// Numbers of Exif 2.32 and TIFF 6.0.
enum TIFFTags {
    /// Tags that refer to further directories.
    static let directories: [Int: String] = [0x8769: "Exif", 0x8825: "GPS", 0xA005: "Interoperability", 0x014A: "Exif"]

    /// How many bytes one value of a type takes.
    static let sizes: [Int: Int] = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8]

    /// Tags whose bytes are tables of the image's own, not of a person's.
    static func isTable(_ tag: Int) -> Bool {
        [0x9000, 0x9101, 0xA000, 0xA300, 0xA301, 0xA302, 0x8773, 0x0001].contains(tag)
    }

    /// What a tag is called.
    static func name(_ tag: Int, in group: String) -> String {
        (group == "GPS" ? places[tag] : names[tag]) ?? "tag \(tag)"
    }

    private static let names: [Int: String] = [
        0x010D: "DocumentName", 0x010E: "ImageDescription", 0x010F: "Make", 0x0110: "Model", 0x011D: "PageName",
        0x0131: "Software", 0x0132: "DateTime", 0x013B: "Artist", 0x013C: "HostComputer", 0x8298: "Copyright",
        0x9003: "DateTimeOriginal", 0x9004: "DateTimeDigitized", 0x9286: "UserComment", 0xA420: "ImageUniqueID",
        0xA430: "CameraOwnerName", 0xA431: "BodySerialNumber", 0xA433: "LensMake", 0xA434: "LensModel",
        0xA435: "LensSerialNumber", 0x9C9B: "XPTitle", 0x9C9C: "XPComment", 0x9C9D: "XPAuthor", 0x9C9E: "XPKeywords",
        0x9C9F: "XPSubject",
    ]

    private static let places: [Int: String] = [
        1: "GPSLatitudeRef", 2: "GPSLatitude", 3: "GPSLongitudeRef", 4: "GPSLongitude", 6: "GPSAltitude",
        7: "GPSTimeStamp", 8: "GPSSatellites", 18: "GPSMapDatum", 20: "GPSDestLatitude", 22: "GPSDestLongitude",
        27: "GPSProcessingMethod", 28: "GPSAreaInformation", 29: "GPSDateStamp",
    ]
}
