package approval

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sentient/backend/approval/look"
	"sentient/backend/approval/outside"
	"sentient/backend/approval/preview"
	"sentient/backend/approval/rules"
	"sentient/backend/svc"
	"sentient/backend/tool"
)

// The checks, in the order of gate.go. Each looks at one thing.

// arguments refuses what does not fit the tool, with its schema, so that the model can try again (§10).
func (c *Case) arguments(context.Context) {
	if c.Unfit != nil {
		c.end(Outcome{Failed: true, Value: struct {
			Error  string          `json:"error"`
			Schema json.RawMessage `json:"schema"`
		}{fmt.Sprintf("Invalid arguments for %s: %s.", c.Tool.Name, strings.TrimSuffix(c.Unfit.Error(), ".")), c.Tool.Parameters}})
	}
}

func (c *Case) switchedOff(context.Context) {
	if !c.of.s.Tools.Enabled(c.Tool.Name) {
		c.refuse(fmt.Sprintf("Not done: %s is switched off.", c.Tool.Name))
	}
}

// effectiveRisk is what this very call can do. A tool that cannot tell counts as the worst (§10).
func (c *Case) effectiveRisk(ctx context.Context) {
	c.risk = c.Tool.Risk
	if c.Tool.RiskOf == nil {
		return
	}
	risk, err := judged(ctx, c, "risk", c.Tool.RiskOf)
	if err != nil || risk < tool.Read || risk > tool.Exec {
		risk = tool.Exec
	}
	c.risk, c.raised = risk, risk > c.Tool.Risk && risk >= tool.Send
}

func (c *Case) surfacePolicy(context.Context) {
	if c.of.surface.Refuses == nil {
		return
	}
	if why := c.of.surface.Refuses(c.Tool, c.Plugin, c.risk); why != "" {
		c.refuse(why)
	}
}

func (c *Case) withoutMemory(context.Context) {
	if !c.of.call.Memory && ofMemory[c.Tool.Name] {
		c.refuse(fmt.Sprintf("Not done: what Sentient remembers isn't available here, so %s can't run.", c.Tool.Name))
	}
}

// never is the rule that nothing lifts (§2).
func (c *Case) never(context.Context) {
	if rule := c.rule(c.set); rule.Level == rules.Never {
		c.refuse(rules.Refusal(rule, c.Tool, c.Plugin))
	}
}

// readOnly holds connections that only look things up (§5 "Read only connections").
func (c *Case) readOnly(context.Context) {
	if c.risk > tool.Read && slices.Contains(c.set.ReadOnly, c.Plugin.ID) {
		c.refuse(fmt.Sprintf("%s is set to Read only, so Sentient can look things up there but can't change, send or delete anything. %q was not done. Change this in Integrations.",
			c.Plugin.Name, rules.PlainName(c.Tool.Name, c.Plugin)))
	}
}

// tryRun lets a try run take note of the call instead (§4 "Try it first").
func (c *Case) tryRun(ctx context.Context) {
	if c.of.surface.Rehearse == nil {
		return
	}
	if result, instead := c.of.surface.Rehearse(ctx, c); instead {
		c.end(Outcome{Value: result})
	}
}

// unprompted holds work that nobody asked for to look-ups and Sentient's own things (§10).
func (c *Case) unprompted(context.Context) {
	if !unprompted[c.of.call.Origin] || c.isLookUp() || c.Tool.Internal && c.risk == tool.Write && c.Plugin.ID != "tasks" {
		return
	}
	c.refuse(fmt.Sprintf("Nobody asked for this work, so Sentient can only look things up. %s was not done. If it would help, suggest it to the user instead.", c.Tool.Name))
	c.outcome.Held = true
}

// handOver gives the person what was prepared, and runs nothing (§2 "hand_off").
func (c *Case) handOver(ctx context.Context) {
	rule := c.rule(c.set)
	if !rules.HandsOff(rule, c.risk) {
		return
	}
	name := rules.Name(rule, c.Tool, c.Plugin)
	h := HandOff{HandedOff: true, Message: rules.HandOffMessage(name), Label: rules.Name(rules.Rule{}, c.Tool, c.Plugin),
		Title: rules.PlainName(c.Tool.Name, c.Plugin), Preview: c.preview(ctx)}
	if h.Preview != nil {
		h.Title = cmp.Or(h.Preview.Title, h.Title)
	} else {
		h.Details = preview.Details(c.Args)
	}
	c.end(Outcome{Value: h, HandedOff: &h})
}

// ruleProposals asks while a rule that was proposed in the chat is undecided, or still being weighed (§2 "Rules from chat").
func (c *Case) ruleProposals(context.Context) {
	if c.of.s.Proposals == nil || c.of.call.SessionID == "" || c.set.Mode == "off" && c.isLookUp() {
		return
	}
	if c.of.s.Proposals.Covers(c.of.call.SessionID, c.Tool, c.Plugin) {
		c.ask(byProposal, "")
	}
}

// outsideContent asks before anything leaves a run that has read what someone else wrote (§10 "Outside content").
func (c *Case) outsideContent(ctx context.Context) {
	if source := c.marked(); source != "" && c.Leaves(ctx) {
		c.ask(byOutside, outside.AskSending(source))
	}
}

// address asks before such a run loads an address that can carry data to a site it has not visited (§10).
func (c *Case) address(ctx context.Context) {
	source := c.marked()
	if source == "" {
		return
	}
	address := c.loaded(ctx)
	host := outside.Host(address)
	if c.unreadable || address != "" && !c.of.round.visited[host] && outside.CarriesData(address) {
		c.ask(byOutside, outside.AskAddress(source, host))
	}
}

// valueCheck asks before such a run loads an address that carries pieces of what is the person's (decision 5). Addresses
// count together, those of the same round too.
func (c *Case) valueCheck(ctx context.Context) {
	address, source := c.loaded(ctx), c.marked()
	if source != "" {
		carries, to := false, outside.Host(address)
		switch {
		case address != "":
			_, carries = c.of.carries(ctx, address)
		case c.Plugin.Public && c.isLookUp(): // what is searched for leaves as well
			carries, to = c.of.carriesText(ctx, plain(c.Args)), c.Plugin.Name
		}
		if carries {
			c.ask(byOutside, outside.AskValue(source, to))
		}
	}
	if address != "" && len(c.questions) == 0 {
		c.of.load(address)
	}
}

// plain gives the texts of arguments, a line each.
func plain(args json.RawMessage) string {
	var lines []string
	for _, f := range preview.Details(args) {
		lines = append(lines, f.Value)
	}
	return strings.Join(lines, "\n")
}

// unnamedChanges asks before such a run deletes, overwrites or shares what the person's own words did not name (decision 10).
func (c *Case) unnamedChanges(ctx context.Context) {
	source := c.marked()
	if source == "" || c.isLookUp() {
		return
	}
	label := c.words(ctx).RiskLabel
	if !outside.Destructive(c.Tool.Name, c.Args) && !destructive[label] {
		return
	}
	var targets []string
	if c.Tool.Targets != nil {
		targets = c.Tool.Targets(c.Args)
	}
	if target := c.words(ctx).Target; target != "" {
		targets = append(targets, target)
	}
	if len(targets) == 0 {
		targets = strings.Split(plain(c.Args), "\n")
	}
	e := c.evidence(ctx)
	if e == nil || outside.Names(e.Words, targets) {
		return
	}
	c.ask(byOutside, outside.AskChange(source, targets[0]))
}

// destructive are the labels of calls that take something away or open it to others.
var destructive = map[string]bool{"Deletes": true, "Replaces a file": true, "Overwrites": true, "Moves to the trash": true, "Shares": true, "Changes who has access": true}

// anotherAppsDelete asks before a delete that another program asked for (§2, the list for mode off).
func (c *Case) anotherAppsDelete(ctx context.Context) {
	if !otherApps[c.of.call.Channel] || c.isLookUp() {
		return
	}
	if p := c.preview(ctx); p != nil && (p.Kind == "delete" || p.Kind == "trash") || outside.Destructive(c.Tool.Name, c.Args) || destructive[c.words(ctx).RiskLabel] {
		c.ask(byOutside, "Another app asked for this, so Sentient checks with you before it deletes or replaces anything.")
	}
}

// secondLook compares what is about to leave with what the person asked for, without a model (§10 "Second look").
func (c *Case) secondLook(ctx context.Context) {
	if !c.Leaves(ctx) {
		return
	}
	c.destinations(ctx)
	if c.risk == tool.Exec {
		return
	}
	e := c.evidence(ctx)
	if e == nil {
		return
	}
	c.flag(look.Deterministic(ctx, c.action(ctx), e))
}

// flag makes a call ask because of what a second look found: it counts as one that sends.
func (c *Case) flag(warning string) {
	if warning == "" {
		return
	}
	c.risk = max(c.risk, tool.Send)
	c.ask(byWarning, warning)
}

// destinations reads whom a reply goes to.
func (c *Case) destinations(ctx context.Context) {
	if c.Tool.Destinations == nil {
		return
	}
	c.to, c.toErr = svc.Guarded(ctx, c.of.s.guard(), "destinations of "+c.Tool.Name, replyWithin, func(ctx context.Context) ([]tool.Destination, error) {
		return c.Tool.Destinations(ctx, c.Context, c.Args)
	})
}

func (c *Case) action(ctx context.Context) look.Action {
	return look.Action{Tool: c.Tool, Plugin: c.Plugin, Risk: c.risk, Args: c.Args, Wording: c.words(ctx), Destinations: c.to, DestinationsErr: c.toErr}
}

// hardStops ask in every mode, and no rule or grant covers them (§2): purchases, and what opens the person's home.
func (c *Case) hardStops(ctx context.Context) {
	if c.risk < tool.Send {
		return
	}
	label := c.words(ctx).RiskLabel
	if rules.OpensHome(label) || label == rules.Purchase && c.set.ConfirmPurchases {
		c.ask(byHardStop, "")
	}
}

// modeAndRules asks as the mode says, unless a lasting rule says otherwise (§2).
func (c *Case) modeAndRules(context.Context) {
	switch c.applied(c.set) {
	case rules.Ask:
		c.ask(byRule, string(c.rule(c.set).Level))
		return
	case rules.Allow:
		return
	}
	own := c.Tool.Internal && c.risk == tool.Write
	switch {
	case c.set.Mode == "always", c.set.Mode != "off" && !c.isLookUp() && !own:
		c.ask(byMode, "")
	}
}

// applied gives what the lasting rule comes to for this call: ask, allow or nothing.
func (c *Case) applied(set Settings) rules.Level {
	rule := c.rule(set)
	return rules.Applied(rule, rule.Level == rules.IfAsked && c.askedFor())
}

// askedFor reports whether the person's own words in this turn asked for the call. Only a turn of a chat has them.
func (c *Case) askedFor() bool {
	if c.of.surface.Name != "chat" {
		return false
	}
	var apps []string
	for _, p := range c.of.s.Tools.Plugins() {
		if p.ID != c.Plugin.ID && p.Auth != "builtin" && (p.Connected == nil || p.Connected()) {
			apps = append(apps, p.ID, p.Name)
		}
	}
	return rules.AskedFor(c.of.words(), rules.Wanted{Tool: c.Tool, Plugin: c.Plugin, Risk: c.risk, Args: c.Args, Apps: apps})
}

// grants takes away the questions that an earlier yes covers (§2 "Scoped answers").
func (c *Case) grants(ctx context.Context) {
	if len(c.questions) == 0 {
		return
	}
	if c.of.s.inChat(c) {
		c.dropQuestions(func(b because) bool { return b == byMode })
	}
	if len(c.questions) > 0 && c.of.s.granted(ctx, c) {
		c.dropQuestions(func(b because) bool { return b <= byRule })
	}
}

// secondLookByModel has a model compare the call with the person's words, where it would go unseen or the run has read what
// someone else wrote (§10 "Second look"). It only ever adds a question.
func (c *Case) secondLookByModel(ctx context.Context) {
	if !c.set.SecondLookModel || !c.Leaves(ctx) || len(c.questions) > 0 && (c.marked() == "" || !c.of.surface.Asks) {
		return
	}
	if _, flagged := c.asksFor(byWarning); flagged || !look.Applies(c.action(ctx)) {
		return
	}
	e := c.evidence(ctx)
	if e == nil {
		return
	}
	warning, err := svc.Guarded(ctx, c.of.s.guard(), "second look", modelWithin, func(ctx context.Context) (string, error) {
		return look.Model(ctx, c.action(ctx), e, func(ctx context.Context, prompt string) (string, error) {
			return c.of.s.Ask(ctx, c.of.call.SessionID, prompt)
		}), nil
	})
	if err != nil {
		warning = look.Unchecked
	}
	c.flag(warning)
}

// preview gives what a person would read of the call; nil where there is nothing.
func (c *Case) preview(ctx context.Context) *preview.Preview {
	return preview.Of(c.Tool, c.Plugin, c.risk, c.words(ctx), c.Args, c.to)
}
