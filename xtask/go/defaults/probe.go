package main

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
)

// A path leads to a struct in a Go value and in its JSON.
type path struct {
	steps []step
	json  []any
}

type stepKind int

const (
	intoField stepKind = iota
	intoPointer
	intoItem
	intoEntry
)

type step struct {
	kind  stepKind
	field int
}

func (p path) then(s step, json ...any) path {
	steps := append(append([]step{}, p.steps...), s)
	return path{steps: steps, json: append(append([]any{}, p.json...), json...)}
}

const entryKey = "x"

// build returns a value of type t that contains only what the steps lead to.
func build(t reflect.Type, steps []step, tweak func(reflect.Value)) reflect.Value {
	v := reflect.New(t).Elem()
	if len(steps) == 0 {
		if tweak != nil {
			tweak(v)
		}
		return v
	}
	rest := steps[1:]
	switch steps[0].kind {
	case intoField:
		field := v.Field(steps[0].field)
		field.Set(build(field.Type(), rest, tweak))
	case intoPointer:
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(build(t.Elem(), rest, tweak))
	case intoItem:
		v.Set(reflect.MakeSlice(t, 1, 1))
		v.Index(0).Set(build(t.Elem(), rest, tweak))
	case intoEntry:
		v.Set(reflect.MakeMap(t))
		key := reflect.ValueOf(entryKey).Convert(t.Key())
		v.SetMapIndex(key, build(t.Elem(), rest, tweak))
	}
	return v
}

// probe returns the struct at the path before and after defaulting, as JSON.
func (w *walker) probe(p path, tweak func(reflect.Value)) (before, after map[string]any, err error) {
	object := build(w.root, p.steps, tweak).Addr().Interface().(runtime.Object)
	if before, err = at(object, p.json); err != nil {
		return nil, nil, err
	}
	legacyscheme.Scheme.Default(object)
	after, err = at(object, p.json)
	return before, after, err
}

func at(object runtime.Object, steps []any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			members, _ := value.(map[string]any)
			value = members[s]
		case int:
			items, _ := value.([]any)
			if len(items) <= s {
				return nil, nil
			}
			value = items[s]
		}
	}
	members, _ := value.(map[string]any)
	return members, nil
}
