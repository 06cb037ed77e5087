package main

import (
	"encoding/json"
	"os"
	"testing"
)

func TestChecksumMatchesTheSharedCases(t *testing.T) {
	text, err := os.ReadFile("../../checksum.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Fields   []string `json:"fields"`
		Checksum uint64   `json:"checksum"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("checksum.json has no cases")
	}
	for _, c := range cases {
		if got := checksum(c.Fields...); got != c.Checksum {
			t.Errorf("checksum(%q) = %d, want %d", c.Fields, got, c.Checksum)
		}
	}
}
