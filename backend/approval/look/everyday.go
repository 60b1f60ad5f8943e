package look

import "strings"

// everyday are words that are nobody's name here: those of everyday speech, and mailboxes of a role.
var everyday = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`
a about accept account accounting accounts add address admin after again agree alert alerts all also always am an and any anyone apply are as at attach
back bank be because been before below best billing book booking boss both bring but buy by
can cancel career careers change chat check client close co come company complete confirm contact copy could customer customers
date day dear delete did do does done draft
each either email emails event everybody everyone
feedback few file find finance first follow for friend friends from
get give go good group
had has have hello help her here hers hey hi him his hostmaster hr how
i if in info information inquiries invoice invoices is it its
job jobs join just
keep kindly know
last later latest leave legal let letter list lunch
mail mailbox make management manager many marketing me meet meeting member members message messages monday month more mum my
need new news newsletter next no noreply not note notes nothing notice notifications now
of off office ok okay on once one only open operations or order orders other our out over
page party pay payment payments payroll people person phone photo plan please post postmaster press privacy project purchase put
question quote
read receipt receipts record records regards remind reply report reports request reservations respond reset review right
sales same save say schedule secretary security see send sent service services set share she should show some someone something soon staff start stop
subject submit summary support system
take team teams test than thank thanks that the their them then there these they thing this those time today tomorrow tonight transfer try
up update updates upload us use user users
verify very via
want was we web webmaster week welcome well were what when where which who whole why will with work would write
yes yesterday you your yours
january february march april june july august september october november december
tuesday wednesday thursday friday saturday sunday
gmail outlook slack telegram whatsapp discord google apple microsoft calendar inbox sentient assistant`) {
		out[w] = true
	}
	return out
}()
