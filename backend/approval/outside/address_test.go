package outside

import (
	"strings"
	"testing"
)

func TestAddressesThatCanCarryData(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com":                                 false,
		"https://example.com/a/short/path":                    false,
		"https://example.com/page#part":                       false,
		"example.com/page":                                    false,
		"https://example.com:8443/":                           false,
		"https://example.com/" + strings.Repeat("a", 99):      false,
		"https://example.com/" + strings.Repeat("a", 100):     true,
		"https://example.com/#" + strings.Repeat("a", 40):     false,
		"https://example.com/#" + strings.Repeat("a", 41):     true,
		"https://example.com/?q=x":                            true,
		"https://me@example.com/":                             true,
		"https://example.com\\?q=x":                           true,
		"https://example.com/a…":                              true,
		"https://example.com/a...":                            true,
		"":                                                    true,
		"https://":                                            true,
		"https://exa mple.com/":                               true,
		"javascript:alert(1)":                                 true,
		"data:text/html,x":                                    true,
		"file:///etc/passwd":                                  true,
		"ftp://example.com/":                                  true,
		"http://[::1":                                         true,
		"https://good.example\\@evil.example/":                false, // its host is good.example, as a browser reads it
		"https://example.com/" + strings.Repeat("%C3%A9", 20): true,  // as it is sent, it is long
	} {
		if got := CarriesData(address); got != want {
			t.Errorf("CarriesData(%q) = %v", address, got)
		}
	}
}

func TestHostsAreReadAsABrowserReadsThem(t *testing.T) {
	for address, want := range map[string]string{
		"https://EXAMPLE.com/x":                "example.com",
		"https://example.com.:443":             "example.com",
		"https://bücher.example/":              "xn--bcher-kva.example",
		"https://xn--bcher-kva.example":        "xn--bcher-kva.example",
		"https:example.com/x":                  "example.com",
		"https:/\\example.com/x":               "example.com",
		"//example.com/x":                      "example.com",
		"example.com:8080/x":                   "example.com",
		" https://exam\tple.com\n":             "example.com",
		"https://good.example\\@evil.example/": "good.example",
		"https://good.example@evil.example/":   "evil.example",
		"https://ｅｘａｍｐｌｅ.com":                  "example.com",
		"https://_dmarc.example.com/":          "_dmarc.example.com",
		"http://[::ffff:127.0.0.1]:80/":        "::ffff:127.0.0.1",
		"http://127.0.0.1/":                    "127.0.0.1",
		"mailto:me@example.com":                "",
		"about:blank":                          "",
		"https:///":                            "",
		"":                                     "",
	} {
		if got := Host(address); got != want {
			t.Errorf("Host(%q) = %q, want %q", address, got, want)
		}
	}
}

func FuzzCarriesData(f *testing.F) {
	for _, s := range []string{"https://example.com/?q", "//a\\b", "https://é.example:99999/…", "http://[::1%25en0]/", "a:b:c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		carries, host := CarriesData(address), Host(address)
		if host == "" && !carries {
			t.Fatalf("%q cannot be read and passes", address)
		}
		if host != strings.ToLower(host) || strings.ContainsAny(host, "/@ \\") {
			t.Fatalf("Host(%q) = %q", address, host)
		}
	})
}
