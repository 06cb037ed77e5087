// Command written prints, for every struct of the Kubernetes API, which JSON fields Go encodes even if
// they are unset, and which it omits if they are zero.
//
// OpenAPI documents do not contain this: they have neither `omitempty` nor pointers.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// How Go encodes a field.
const (
	// Omitted if empty, zero or false.
	whenNotZero = "z"
	// Always; null if it is unset.
	alwaysNull = "n"
	// Always; the zero value if it is unset.
	alwaysZero = "v"
)

type model interface{ OpenAPIModelName() string }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			return err
		}
	}
	w := walker{seen: map[reflect.Type]bool{}, models: map[string]map[string]string{}}
	for _, t := range scheme.Scheme.AllKnownTypes() {
		w.visit(t)
	}
	return json.NewEncoder(os.Stdout).Encode(w.models)
}

type walker struct {
	seen   map[reflect.Type]bool
	models map[string]map[string]string
}

func (w *walker) visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		w.visit(t.Elem())
		return
	case reflect.Map:
		w.visit(t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	fields := map[string]string{}
	w.fields(t, fields)
	if m, ok := reflect.New(t).Interface().(model); ok {
		w.models[m.OpenAPIModelName()] = fields
	}
}

func (w *walker) fields(t reflect.Type, out map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		tag, ok := field.Tag.Lookup("json")
		if !ok || tag == "-" || !field.IsExported() {
			continue
		}
		parts := strings.Split(tag, ",")
		name, options := parts[0], parts[1:]
		if name == "" && field.Anonymous {
			w.fields(field.Type, out)
			continue
		}
		w.visit(field.Type)
		if how := written(field.Type, options); how != "" {
			out[name] = how
		}
	}
}

func written(t reflect.Type, options []string) string {
	omits := func(option string) bool {
		for _, o := range options {
			if o == option {
				return true
			}
		}
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if omits("omitempty") {
			return ""
		}
		return alwaysNull
	case reflect.Slice, reflect.Map:
		if omits("omitempty") {
			return whenNotZero
		}
		return alwaysNull
	case reflect.Struct:
		if omits("omitzero") {
			return ""
		}
		if text, err := json.Marshal(reflect.Zero(t).Interface()); err == nil && string(text) == "null" {
			return alwaysNull
		}
		return alwaysZero
	default:
		if omits("omitempty") || omits("omitzero") {
			return whenNotZero
		}
		return alwaysZero
	}
}
