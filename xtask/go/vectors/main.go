// Command vectors runs the scripted cases of server-side apply with the library of Kubernetes, and
// writes its results into each step.
//
// Usage: vectors FILE...
package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	failed := false
	for _, path := range os.Args[1:] {
		if err := rewrite(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

func rewrite(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var c testCase
	if err := yaml.UnmarshalStrict(text, &c); err != nil {
		return err
	}
	if err := c.run(); err != nil {
		return err
	}
	text, err = yaml.Marshal(c)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
