package main

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/api/legacyscheme"

	"github.com/kubewright/kubewright/xtask/go/internal/builtin"
)

// defaulted is an object in a request and after decoding and defaulting.
type defaulted struct {
	Object map[string]any `json:"object"`
	Result map[string]any `json:"result"`
}

// defaultAll returns two objects of every kind: an empty one, and one with every struct set.
func defaultAll() ([]defaulted, error) {
	var all []defaulted
	for _, kind := range builtin.Kinds() {
		if !legacyscheme.Scheme.Recognizes(kind.GroupKind().WithVersion(runtime.APIVersionInternal)) {
			continue
		}
		empty := reflect.New(kind.Type)
		full := reflect.New(kind.Type)
		fill(full.Elem(), map[reflect.Type]bool{})
		for _, object := range []reflect.Value{empty, full} {
			sent, err := members(object.Interface().(runtime.Object), kind.GroupVersionKind)
			if err != nil {
				return nil, err
			}
			internal, err := decode(sent)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.Kind, err)
			}
			result, err := encode(internal, kind.GroupVersionKind)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", kind.Kind, err)
			}
			all = append(all, defaulted{sent, result})
		}
	}
	return all, nil
}

// fill sets all structs of a value, with one item per list. Strings and numbers stay unset.
func fill(v reflect.Value, above map[reflect.Type]bool) {
	t := v.Type()
	if above[t] || t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && t.Name() != "LabelSelector" {
		return
	}
	if _, ok := v.Addr().Interface().(json.Marshaler); ok {
		return
	}
	above[t] = true
	defer delete(above, t)
	switch v.Kind() {
	case reflect.Pointer:
		if t.Elem().Kind() != reflect.Struct {
			return
		}
		v.Set(reflect.New(t.Elem()))
		fill(v.Elem(), above)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Struct {
			return
		}
		v.Set(reflect.MakeSlice(t, 1, 1))
		fill(v.Index(0), above)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), above)
			}
		}
	}
}

// decode decodes an object as the server does: defaulted, and in the internal version.
func decode(object map[string]any) (runtime.Object, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), text)
}

// encode encodes an object as the server does.
func encode(internal runtime.Object, kind schema.GroupVersionKind) (map[string]any, error) {
	external, err := legacyscheme.Scheme.ConvertToVersion(internal, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	return members(external, kind)
}

func members(object runtime.Object, kind schema.GroupVersionKind) (map[string]any, error) {
	object.GetObjectKind().SetGroupVersionKind(kind)
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	return found, json.Unmarshal(text, &found)
}
