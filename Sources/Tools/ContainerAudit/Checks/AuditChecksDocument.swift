/// The document `docs/audit-checks.md`, generated from the checks.
package enum AuditChecksDocument {
    /// The document in Markdown.
    package static var markdown: String {
        ([introduction] + AuditCheck.families.map(section) + [AuditReportDocument.markdown]).joined(separator: "\n")
    }

    private static let introduction = """
        # Checks of the audit

        Generated from `Sources/Tools/ContainerAudit/Checks`: do not edit it. After a change of a check, write it with

            SEALED_REGENERATE=1 swift test --filter AuditChecksDocumentTests

        An id never changes its meaning. The severity is the usual one; the meaning states exceptions. `FILE` represents
        the file that a finding names, `GROUP` the app group. A container is clean when it has no finding above
        `info`. The last column names the controls of OWASP MASVS 2 and the tests of OWASP MASTG that a check answers.
        `sealctl audit --explain ID` prints one of these.

        A secret has one severity less than its row where it only has a secret's name, where it has expired, and where
        it was deleted and its bytes were not overwritten. The finding states which.

        """

    private static func section(_ family: AuditCheck.Family) -> String {
        let rows = family.checks.map { check in
            let remedy = FindingPlace(template: ()).filling(check.remedy)
            let references = check.references.joined(separator: ", ")
            let meaning = "\(check.title). \(check.meaning)"
            return "| `\(check.id)` | \(check.severity) | \(meaning) | \(remedy) | \(references) |"
        }
        let head = [
            "## \(family.title)", "", "| id | severity | meaning | remedy | answers |",
            "| --- | --- | --- | --- | --- |",
        ]
        return (head + rows + [""]).joined(separator: "\n")
    }
}

/// The part of `docs/audit-checks.md` that describes the JSON of a report.
enum AuditReportDocument {
    static let markdown = """
        ## The report as JSON

        `sealctl audit --json` prints one object. Every field is always present; an unknown value is `null`. Modes are octal
        text (`"0600"`), times RFC 3339 text in UTC with milliseconds at most (`"2026-11-21T03:30:00.5Z"`).

        | field | type | meaning |
        | --- | --- | --- |
        | `auditedAt`, `finishedAt` | strings | times: when the audit began and ended |
        | `containerPath` | string | the audited directory |
        | `group` | string or null | the app group; null for a directory that was named by its path |
        | `withKeys` | boolean | whether the vault was open, so that blobs were verified; without, a note says why not |
        | `isClean` | boolean | no finding above `info`; without keys only as far as the audit could see |
        | `counts` | object | how many findings there are of each severity, those that are not listed included |
        | `notes` | array of strings | the parts that could not be examined, and the reasons |
        | `findings` | array | the most severe first |
        | `omissions` | object | the findings that the list leaves out, see below |
        | `files` | array | every file, by path |

        A finding has `id`, `severity` (`info`, `low`, `medium`, `high`, `critical`), `confidence` (`certain`, `likely`,
        `possible`), `path` (below the container, or absolute for a path outside), `title`, `detail` and `remedy`, all
        strings; `references`, an array of the controls and tests that it answers; and, where they are known, `fingerprint`,
        the text that names it in ignore files, and `location`. A value that was found is never in it, nor is a part of one.

        | field of `location` | type | meaning |
        | --- | --- | --- |
        | `line`, `column` | numbers | from 1, the column in Unicode characters; where the file is text |
        | `offset`, `length` | numbers | bytes of the file, from 0; where the value is in one piece |
        | `place` | string | the place in the file's structure: `accounts[2].token`, `table users, row 12, email` |

        | field of `omissions` | type | meaning |
        | --- | --- | --- |
        | `ignored` | number | findings that an ignore file names |
        | `inBaseline` | number | findings that the baseline has |
        | `allowedInline` | number | findings on a line that says `sealaudit:allow` |
        | `unlisted` | array | findings beyond the limits of one file or of the report: objects with `id`, `severity` and `count` |

        A file has

        | field | type | meaning |
        | --- | --- | --- |
        | `path` | string | below the container; of a record in a database the database's path, a slash and its name |
        | `kind` | string | the kind of the file, such as `sealedRecord`, `json`, `link`, `signal` or `quarantineNote`; the set grows |
        | `size` | number | bytes |
        | `storedSize` | number | bytes without large holes; 0 for a database whose records are listed |
        | `isPlaintext` | boolean | whether its contents are not sealed, a quarantined copy's included |
        | `mode` | string or null | permission bits, set-id and sticky, octal; null for a record in a database |
        | `record` | object or null | what the header of a sealed blob claims |
        | `verdict` | object or null | `state`: `verified`, `unverified` or `refused`; `code`: why it is refused, else null |

        and its `record`

        | field | type | meaning |
        | --- | --- | --- |
        | `name` | string or null | the record's name; null outside the records |
        | `sequence` | number | +1 for each write; 0 for a stream |
        | `epoch` | number | the epoch of its key |
        | `schemaVersion` | number | of the record's type; 0 for a stream |
        | `sealedAt` | string | a time |
        | `notAfter` | string or null | a time; null for never |
        | `keyID` | string | 32 hexadecimal digits |
        | `isDeleted` | boolean | whether it is the mark of a deletion |

        """
}
