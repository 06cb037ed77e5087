package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

type walker struct {
	table table
	known map[string]int
	root  reflect.Type
	kind  string
	stack map[reflect.Type]bool
}

// A field of a struct in JSON, where fields of embedded structs belong to the struct.
type field struct {
	name string
	path path
	t    reflect.Type
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// walk returns the index of the node for values of type t at the path; 0 if there are no defaults.
func (w *walker) walk(t reflect.Type, p path) (int, error) {
	if reflect.PointerTo(t).Implements(marshaler) && t.Kind() == reflect.Struct {
		return 0, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.walk(t.Elem(), p.then(step{kind: intoPointer}))
	case reflect.Slice:
		below, err := w.walk(t.Elem(), p.then(step{kind: intoItem}, 0))
		return w.add(&node{Items: below}), err
	case reflect.Map:
		below, err := w.walk(t.Elem(), p.then(step{kind: intoEntry}, entryKey))
		return w.add(&node{Entries: below}), err
	case reflect.Struct:
		return w.walkStruct(t, p)
	default:
		return 0, nil
	}
}

func (w *walker) walkStruct(t reflect.Type, p path) (int, error) {
	if w.stack[t] {
		return 0, nil
	}
	w.stack[t] = true
	defer delete(w.stack, t)
	fields := fieldsOf(t, p)
	n, err := w.defaults(p, fields)
	if err != nil {
		return 0, err
	}
	for _, f := range fields {
		if len(p.json) == 0 && f.name == "metadata" {
			continue
		}
		below, err := w.walk(f.t, f.path)
		if err != nil {
			return 0, err
		}
		if below != 0 {
			if n.Fields == nil {
				n.Fields = map[string]int{}
			}
			n.Fields[f.name] = below
		}
	}
	return w.add(n), nil
}

func fieldsOf(t reflect.Type, p path) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		into := step{kind: intoField, field: i}
		if name == "" {
			fields = append(fields, fieldsOf(f.Type, p.then(into))...)
			continue
		}
		fields = append(fields, field{name, p.then(into, name), f.Type})
	}
	return fields
}

// defaults returns a node with the defaults of the struct at the path.
func (w *walker) defaults(p path, fields []field) (*node, error) {
	before, after, err := w.probe(p, nil)
	if err != nil {
		return nil, err
	}
	n := &node{}
	for _, f := range fields {
		old, had := before[f.name]
		value, has := after[f.name]
		if !has || reflect.DeepEqual(old, value) {
			continue
		}
		if _, deep := old.(map[string]any); deep {
			continue
		}
		conditional, err := w.isConditional(p, fields, f.name, value)
		switch {
		case err != nil:
			return nil, err
		case conditional:
			w.table.Conditional = append(w.table.Conditional, w.kind+" "+text(f.path))
		case had:
			n.Zero = with(n.Zero, f.name, value)
		default:
			n.Absent = with(n.Absent, f.name, value)
		}
	}
	return n, nil
}

// isConditional returns whether the default of a field depends on the time or on another field.
func (w *walker) isConditional(p path, fields []field, name string, value any) (bool, error) {
	if s, ok := value.(string); ok {
		if _, err := time.Parse(time.RFC3339, s); err == nil {
			return true, nil
		}
	}
	for _, other := range fields {
		given, ok := sample(other.t)
		if other.name == name || !ok {
			continue
		}
		inside := other.path.steps[len(p.steps):]
		_, after, err := w.probe(p, func(v reflect.Value) { set(v, inside, given) })
		if err != nil {
			return false, err
		}
		if !reflect.DeepEqual(after[name], value) {
			return true, nil
		}
	}
	return false, nil
}

// set assigns a field of a struct or of a struct that it embeds.
func set(v reflect.Value, steps []step, given reflect.Value) {
	for _, s := range steps {
		v = v.Field(s.field)
	}
	v.Set(given)
}

// sample returns a value that is not the zero value.
func sample(t reflect.Type) (reflect.Value, bool) {
	v := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
	case reflect.String:
		v.SetString("x")
	case reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
	default:
		return v, false
	}
	return v, true
}

// add returns the index of a node. Equal nodes share an index.
func (w *walker) add(n *node) int {
	if n.Absent == nil && n.Zero == nil && n.Fields == nil && n.Items == 0 && n.Entries == 0 {
		return 0
	}
	key, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	if place, ok := w.known[string(key)]; ok {
		return place
	}
	w.table.Nodes = append(w.table.Nodes, n)
	w.known[string(key)] = len(w.table.Nodes) - 1
	return len(w.table.Nodes) - 1
}

func with(members map[string]any, name string, value any) map[string]any {
	if members == nil {
		members = map[string]any{}
	}
	members[name] = value
	return members
}

func text(p path) string {
	parts := make([]string, 0, len(p.json))
	for _, part := range p.json {
		parts = append(parts, fmt.Sprint(part))
	}
	return strings.Join(parts, ".")
}
