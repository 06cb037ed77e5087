// Command kinds creates and updates the objects of the given files with the code of Kubernetes, and
// prints the results: the object that would be stored, or the validation errors.
//
// It also prints, for every kind, the defaulted form of an object with every struct set.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type results struct {
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
	all := results{}
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
