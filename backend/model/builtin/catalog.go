package builtin

import "runtime"

// offered is a model that can be downloaded.
type offered struct {
	indexModel
	url      string
	memoryGB int // memory a computer is sold with that runs it beside other programs
	needGB   float64
}

// catalogue is what is offered, smallest first: instruction-tuned models that use tools, under a licence that lets anyone
// use them, in their maker's own conversion. Addresses name a revision, so that size and SHA-256 stay true; both are those
// of the maker's repository. needGB is a little under memoryGB, since a computer never reports all it is sold with, and
// leaves room for other programs: a model that makes the computer swap is worse than a smaller one.
func catalogue() []offered {
	qwen := func(name, label, file, revision, sha string, size int64, memoryGB int, needGB float64, weak bool) offered {
		repo := "https://huggingface.co/Qwen/" + label + "-GGUF"
		return offered{
			indexModel: indexModel{Name: name, Label: label, File: file, SizeBytes: size, SHA256: sha, License: "Apache-2.0",
				LicenseURL: repo + "/blob/main/LICENSE", Weak: weak, Tools: true, MaxContext: 32768},
			url: repo + "/resolve/" + revision + "/" + file, memoryGB: memoryGB, needGB: needGB,
		}
	}
	return []offered{
		qwen("qwen3-0.6b", "Qwen3-0.6B", "Qwen3-0.6B-Q8_0.gguf", "23749fefcc72300e3a2ad315e1317431b06b590a",
			"9465e63a22add5354d9bb4b99e90117043c7124007664907259bd16d043bb031", 639_446_688, 4, 2.5, true),
		qwen("qwen3-1.7b", "Qwen3-1.7B", "Qwen3-1.7B-Q8_0.gguf", "90862c4b9d2787eaed51d12237eafdfe7c5f6077",
			"061b54daade076b5d3362dac252678d17da8c68f07560be70818cace6590cb1a", 1_834_426_016, 8, 6.5, false),
		qwen("qwen3-4b", "Qwen3-4B", "Qwen3-4B-Q4_K_M.gguf", "bc640142c66e1fdd12af0bd68f40445458f3869b",
			"7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5", 2_497_280_256, 16, 13.5, false),
		qwen("qwen3-8b", "Qwen3-8B", "Qwen3-8B-Q4_K_M.gguf", "7c41481f57cb95916b40956ab2f0b139b296d974",
			"d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785", 5_027_783_488, 32, 28, false),
	}
}

// release is the llama.cpp build that runs downloaded models.
const release = "b11120"

// archive is one platform's build of it.
type archive struct {
	file string
	size int64
	sha  string
}

func (a archive) url() string {
	return "https://github.com/ggml-org/llama.cpp/releases/download/" + release + "/" + a.file
}

// folder is where it is unpacked, under models/.
func (a archive) folder() string { return "llama-" + release }

// archives are the builds that need nothing but the system. Those for graphics cards are ten times as large and want the
// right driver: whoever has such a card is better served by Ollama.
func archives() map[string]archive {
	return map[string]archive{
		"linux/amd64": {"llama-" + release + "-bin-ubuntu-x64.tar.gz", 16_997_245,
			"cae70da61dc74e3012418f7a4b6750eadc6fd0a8fb03270022d471b675e5b4cd"},
		"linux/arm64": {"llama-" + release + "-bin-ubuntu-arm64.tar.gz", 13_588_955,
			"32a3b84113d3439dfde3ba8488b644ff18e5a2847a8556f18e5e7ee65acf30dc"},
		"darwin/arm64": {"llama-" + release + "-bin-macos-arm64.tar.gz", 11_205_150,
			"f34a2df471a1a6cb4fafd5dacd5f63a54fdc43971235df4d05634ec760eff106"},
		"darwin/amd64": {"llama-" + release + "-bin-macos-x64.tar.gz", 11_235_287,
			"538689fdbb2695a416f4c57baaaa4cf0368774ea22f7180c2ef0e5e1f3eccdfd"},
		"windows/amd64": {"llama-" + release + "-bin-win-cpu-x64.zip", 18_558_140,
			"bbaf0584954c7ef53c2ccc5675f96b8849ac81ca181f540b862eefef1a09a402"},
		"windows/arm64": {"llama-" + release + "-bin-win-cpu-arm64.zip", 12_033_016,
			"bde095ca8437d3b042781910baf79bcd813146bc87c1a7429ec95daaa0da86f0"},
	}
}

func thisArchive() (archive, bool) {
	a, ok := archives()[runtime.GOOS+"/"+runtime.GOARCH]
	return a, ok
}

// suits gives the largest model that suits this much memory, nil when none does. Unknown memory (0) gets the smallest
// that is not weak.
func suits(memory uint64, list []offered) *offered {
	var best *offered
	for i := range list {
		m := &list[i]
		if memory == 0 {
			if !m.Weak {
				return m
			}
			continue
		}
		if float64(memory)/1e9 >= m.needGB {
			best = m
		}
	}
	return best
}

// offer is what the window may offer: nothing where nothing can be downloaded, or when a model that is not weak is there.
func (s *Service) offer(have *found) *Offer {
	a, ok := s.archive()
	if !ok || s.o.Fetcher == nil || (have != nil && !have.Weak) {
		return nil
	}
	m := suits(s.o.MemoryBytes(), s.catalogue())
	if m == nil || (have != nil && have.Name == m.Name) {
		return nil
	}
	return &Offer{Name: m.Name, Label: m.Label, SizeBytes: m.SizeBytes + a.size, License: m.License,
		LicenseURL: m.LicenseURL, MemoryGB: m.memoryGB}
}
