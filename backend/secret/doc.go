// Package secret keeps API keys, tokens and sign-ins: in the keychain of the computer, or, where there is none that
// works, in an encrypted file.
//
// It owns the namespace of the entries (§3 "Keychain namespaces"), the table of names, the splitting of long values and
// the fallback. Nothing is opened before the first call that needs it.
//
// It promises:
//   - Every call ends within five seconds, whatever the keychain does: no session bus, a bus that accepts and never
//     answers, a locked collection, a service that goes away in the middle. It then uses the file, or gives a sentence.
//   - A value never stands anywhere in plain text: not on disk, not in a log, not in an error. Every value that passes
//     through is given to obs.Hide.
//   - What was written to the file is found also when a keychain appears later, and the newer value wins.
//
// # Long values
//
// A value of more than 1,000 bytes is cut at character boundaries into pieces of at most 1,000 bytes: the entries
// <name>, <name>:1, <name>:2 and so on. Reading joins them until one is missing. Before a split value is written the
// entry <name> is removed, and it is written last: a write that is cut off leaves a value that is not set, never one
// glued together from two. Pieces that a shorter value no longer needs are removed. A name that looks like a piece of
// another (mcp:files:1) is refused.
//
// # The file
//
// secrets-<service>.enc in the data folder: a line that names the format, a nonce, and one AES-256-GCM box around all
// entries, bound to the service. Its key is <service>.key in KeyDir (the user's configuration folder, never the data
// folder), so that neither a backup nor a copy of the data folder holds both. An entry may also say that a value is
// gone, when it was deleted while a keychain that may hold it could not be reached.
//
// Anything above L0 may import it. It does not promise to keep secrets from programs that run as the same user.
package secret
