// The producer: the main app, which knows the account and shares its state with the widget.
//
// It obeys one command a line on standard input and answers each with one line, `<what happened>: <for people>`:
//
//   signin NAME SECONDS     signs in, with a token that lives so long
//   signin-file FILE        signs in with a WidgetAuthState from a JSON file
//   refresh SECONDS         a new token for whoever is signed in
//   signout
//   quit

import AccountShared
import FoundationEssentials
import Glibc
import SealedState

/// One line, at once, even into a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

do {
    let group = try AppGroup("group.com.example.account")
    let account = Account(store: try SealedStore(group: group))
    while let line = readLine(), line != "quit" {
        do {
            say("\(try account.obey(Command(line)))")
        } catch {
            say("\(Failure(error))")
        }
    }
} catch {
    say("\(Failure(error))")
    exit(EXIT_FAILURE)
}
