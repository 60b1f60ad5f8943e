package api

import (
	"sentient/backend/agent"
	"sentient/backend/config"
	"sentient/backend/event"
	"sentient/backend/notify"
	"sentient/backend/session"
	"sentient/backend/transcript"
)

// Topics are all events that the engine tells, in the order of the contract (§1). A topic that is missing here reaches
// no client's types; backend/meta compares the list with the declarations.
func Topics() []*event.Info {
	return []*event.Info{
		transcript.TopicSession.Info(),
		transcript.TopicThinkingDelta.Info(),
		transcript.TopicTextDelta.Info(),
		transcript.TopicToolCall.Info(),
		transcript.TopicToolProgress.Info(),
		transcript.TopicToolResult.Info(),
		transcript.TopicInterjection.Info(),
		transcript.TopicSteerAck.Info(),
		transcript.TopicUsage.Info(),
		transcript.TopicError.Info(),
		transcript.TopicNotice.Info(),
		transcript.TopicDone.Info(),
		agent.TopicSubagent.Info(),
		notify.TopicNew.Info(),
		notify.TopicUpdated.Info(),
		notify.TopicRead.Info(),
		notify.TopicDeleted.Info(),
		session.TopicUpdated.Info(),
		session.TopicDeleted.Info(),
		config.Updated.Info(),
	}
}
