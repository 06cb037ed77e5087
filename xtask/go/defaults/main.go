// Command defaults prints what Kubernetes fills into objects of its own kinds, found by probing
// its scheme: for every struct that an object can hold, an object that holds only that is
// defaulted, and what was added to the struct is written down.
//
// A field is conditional when its default changes as soon as one of its neighbours is set; those
// are only named, and a server needs a rule of its own for them.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/kubewright/kubewright/xtask/go/internal/builtin"
)

type table struct {
	// The first is no node.
	Nodes []*node `json:"nodes"`
	// Group, version, kind and place of the node.
	Kinds [][4]any `json:"kinds"`
	// Kind and path of each conditional default.
	Conditional []string `json:"conditional"`
}

// A node says what is filled into a struct, and where to go on from it.
type node struct {
	// Fields that are filled in where they are absent.
	Absent map[string]any `json:"d,omitempty"`
	// Fields that are filled in where they have the value that Go writes for an unset one.
	Zero map[string]any `json:"z,omitempty"`
	// The nodes of fields, of the items of a list, of the entries of a map.
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
