// Command kinds lets Kubernetes' own code create and update the objects of the given files, and
// prints what became of them: the object that would be stored, or what is wrong with it.
//
// Besides it answers, for every kind, what defaulting makes of an object that holds one of
// everything.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type answers struct {
	Defaulted []defaulted `json:"defaulted"`
	Written   []written   `json:"written"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(files []string) error {
	all := answers{}
	var err error
	if all.Defaulted, err = defaultAll(); err != nil {
		return err
	}
	for _, name := range files {
		more, err := play(name)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		all.Written = append(all.Written, more...)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}
