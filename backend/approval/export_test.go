package approval

// Order gives the names of the stages of a call, in order.
func Order() (names []string) {
	for _, stages := range [][]stage{judging, carrying} {
		for _, s := range stages {
			names = append(names, s.name)
		}
	}
	return names
}
