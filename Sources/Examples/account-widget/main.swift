// The consumer: a widget that shows who is signed in, for as long as it runs.
//
// It prints a line, `<state>: <what a person sees>`, whenever what it shows changes. It never shows what the store did
// not vouch for: when a record is refused, the last good one goes out of sight as well.

import AccountShared
import FoundationEssentials
import Glibc
import SealedState

do {
    let store = try SealedStore(group: AppGroup("group.com.example.account"))
    var shown: Face?
    repeat {
        let face = Face(reading: store, at: Date())
        if face != shown {
            print(face)
            fflush(nil)
            shown = face
        }
        // Looking ten times a second is what a program does that is not told of changes; watching a record comes later.
    } while Pause.wait(milliseconds: 100)
} catch {
    print("failed: \(error)")
    exit(EXIT_FAILURE)
}
