package config

import (
	"sentient/backend/clock"
	"sentient/backend/obs"
)

func options(dir string) Options {
	return Options{Dir: dir, Clock: clock.Real{}, Log: obs.Discard()}
}
