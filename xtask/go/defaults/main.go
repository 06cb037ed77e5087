// Command defaults prints the default values of the built-in kinds of Kubernetes. It finds them by
// probing the scheme: for every struct of a kind, it defaults an object that contains only that
// struct, and prints the added fields.
//
// A default is conditional if it changes when another field of the struct is set. Conditional
// defaults are only listed; a server needs a rule for each.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/kubewright/kubewright/xtask/go/internal/builtin"
)

type table struct {
	// The first entry is unused.
	Nodes []*node `json:"nodes"`
	// Group, version, kind and index of the node.
	Kinds [][4]any `json:"kinds"`
	// Kind and path of each conditional default.
	Conditional []string `json:"conditional"`
}

// A node has the defaults of a struct and the nodes of its fields.
type node struct {
	// Defaults of absent fields.
	Absent map[string]any `json:"d,omitempty"`
	// Defaults of fields that have the value that Go encodes for an unset field.
	Zero map[string]any `json:"z,omitempty"`
	// The nodes of fields, of the items of a list and of the entries of a map.
	Fields  map[string]int `json:"f,omitempty"`
	Items   int            `json:"i,omitempty"`
	Entries int            `json:"e,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	w := walker{
		table: table{Nodes: []*node{nil}, Conditional: []string{}},
		known: map[string]int{},
	}
	for _, kind := range builtin.Kinds() {
		w.root, w.kind = kind.Type, kind.Group+"/"+kind.Version+"/"+kind.Kind
		w.stack = map[reflect.Type]bool{}
		place, err := w.walk(kind.Type, path{})
		if err != nil {
			return err
		}
		if place != 0 {
			w.table.Kinds = append(w.table.Kinds, [4]any{kind.Group, kind.Version, kind.Kind, place})
		}
	}
	return json.NewEncoder(os.Stdout).Encode(w.table)
}
