// Package preview is how an action looks before it runs: what a person would read of it, built in code from the call's own
// arguments (§10 "Previews, undo windows and the trash").
package preview

// Preview is an action as a person reads it: an email with its recipients, a post, a purchase.
type Preview struct {
	Kind   string  `json:"kind" enum:"email,message,post,delete,trash,purchase,action"`
	Title  string  `json:"title"`
	Fields []Field `json:"fields"`
	Body   string  `json:"body"`
}

// Field is a line of a preview: To, Cc, Bcc, Where, Subject, Title, Files, Amount, Item.
type Field struct {
	Label string `json:"label"`
	Value string `json:"value"`
}
