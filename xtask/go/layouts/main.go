// Command layouts prints the protobuf layouts of the built-in kinds of Kubernetes: for every message
// its fields in the order of Go's JSON, with their numbers, and when JSON contains them.
//
// The .proto files have neither that order nor the fields that JSON omits.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubewright/kubewright/xtask/go/internal/served"
)

// When JSON contains a field.
const (
	// If the message contains it.
	whenPresent = "p"
	// If its value is neither zero nor empty.
	whenNotZero = "z"
	// Always; null if the message does not contain it.
	orNull = "n"
	// Always; the zero value if the message does not contain it.
	orZero = "v"
)

// Structs whose JSON is not an object of their fields.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microTime",
	reflect.TypeFor[resource.Quantity]():                            "quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "intOrString",
	reflect.TypeFor[runtime.RawExtension]():                         "raw",
	reflect.TypeFor[metav1.FieldsV1]():                              "raw",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "schemaOrSchemas",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "schemaOrBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "schemaOrTexts",
}

// A Table is the output.
type Table struct {
	Kinds    []Kind    `json:"kinds"`
	Messages []Message `json:"messages"`
}

// A Kind is a kind of objects in requests or responses.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// The index of its message.
	Message int `json:"message"`
}

// A Message lists its fields, with the fields of embedded structs in place.
type Message struct {
	// The index of its kind plus one; zero if it is no kind.
	Kind   int     `json:"kind"`
	Fields []Field `json:"fields"`
}

// A Field is a field of a message or of a struct that it embeds.
type Field struct {
	// 0 for the fields of the message, else the number of the embedded struct.
	Part   int    `json:"part"`
	Number int    `json:"number"`
	Name   string `json:"name"`
	// A scalar, a special type, `message` or `part`.
	Type string `json:"type"`
	// The index of the message, or the number of the part.
	Place   int    `json:"place"`
	Shape   string `json:"shape"`
	Written string `json:"written"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	w := walker{places: map[reflect.Type]int{}, kinds: map[reflect.Type]int{}}
	kinds, err := served.Kinds()
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		w.kinds[kind.Type] = len(w.kinds) + 1
	}
	for _, kind := range kinds {
		place, err := w.message(kind.Type)
		if err != nil {
			return err
		}
		w.table.Kinds = append(w.table.Kinds, Kind{kind.GroupVersion().String(), kind.Kind, place})
	}
	return json.NewEncoder(os.Stdout).Encode(w.table)
}

type walker struct {
	table  Table
	places map[reflect.Type]int
	kinds  map[reflect.Type]int
}

func (w *walker) message(t reflect.Type) (int, error) {
	if place, ok := w.places[t]; ok {
		return place, nil
	}
	place := len(w.table.Messages)
	w.places[t] = place
	w.table.Messages = append(w.table.Messages, Message{})
	f := flattened{walker: w, fields: []Field{}}
	if err := f.add(t, 0); err != nil {
		return 0, fmt.Errorf("%v: %w", t, err)
	}
	message := Message{Fields: f.fields}
	if f.isTyped {
		message.Kind = w.kinds[t]
	}
	w.table.Messages[place] = message
	return place, nil
}

// flattened has the fields of a message and of its embedded structs, in the order of JSON.
type flattened struct {
	walker  *walker
	fields  []Field
	parts   int
	isTyped bool
}

func (f *flattened) add(t reflect.Type, part int) error {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Type == reflect.TypeFor[metav1.TypeMeta]() {
			f.isTyped = true
			continue
		}
		tag, ok := field.Tag.Lookup("protobuf")
		if !ok || tag == "-" {
			continue
		}
		number, err := strconv.Atoi(strings.Split(tag, ",")[1])
		if err != nil || number < 1 || number > 255 {
			return fmt.Errorf("%s has the tag %q", field.Name, tag)
		}
		options := strings.Split(field.Tag.Get("json"), ",")
		name, options := options[0], options[1:]
		if name == "" && field.Anonymous {
			if field.Type.Kind() != reflect.Struct {
				return fmt.Errorf("%s is embedded, but is not a struct", field.Name)
			}
			f.parts++
			inner := f.parts
			f.fields = append(f.fields, Field{Part: part, Number: number, Type: "part", Place: inner, Shape: "one", Written: whenPresent})
			if err := f.add(field.Type, inner); err != nil {
				return err
			}
			continue
		}
		// The reader can detect a zero struct only if its encoding is empty.
		how := written(field.Type, options)
		if how == whenNotZero && field.Type.Kind() == reflect.Struct && special[field.Type] != "time" {
			return fmt.Errorf("%s is omitted if it is zero", field.Name)
		}
		described := Field{Part: part, Number: number, Name: name, Written: how}
		if err := f.describe(&described, field.Type); err != nil {
			return fmt.Errorf("%s: %w", field.Name, err)
		}
		f.fields = append(f.fields, described)
	}
	return nil
}

func (f *flattened) describe(field *Field, t reflect.Type) error {
	field.Shape = "one"
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, isMessage := reflect.New(t).Interface().(interface{ ProtoMessage() })
	switch {
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !isMessage:
		field.Shape, t = "list", t.Elem()
	case t.Kind() == reflect.Map:
		if t.Key().Kind() != reflect.String {
			return fmt.Errorf("a map from %v", t.Key())
		}
		field.Shape, t = "map", t.Elem()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, err := f.typeOf(t)
	if err != nil {
		return err
	}
	field.Type = name
	// The special types of schemas contain messages.
	if strings.HasPrefix(name, "schema") {
		t, name = reflect.TypeFor[apiextensionsv1.JSONSchemaProps](), "message"
	}
	if name == "message" {
		field.Place, err = f.walker.message(t)
	}
	return err
}

func (f *flattened) typeOf(t reflect.Type) (string, error) {
	if name, ok := special[t]; ok {
		return name, nil
	}
	if _, ok := reflect.New(t).Interface().(json.Marshaler); ok {
		return "", fmt.Errorf("%v has a custom JSON encoding that is not supported", t)
	}
	switch t.Kind() {
	case reflect.String:
		return "text", nil
	case reflect.Bool:
		return "bool", nil
	case reflect.Int32, reflect.Int64:
		return "int", nil
	case reflect.Float64:
		return "double", nil
	case reflect.Struct:
		return "message", nil
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Uint8:
			return "bytes", nil
		case reflect.String:
			return "texts", nil
		}
	}
	return "", fmt.Errorf("the type %v is not supported", t)
}

func written(t reflect.Type, options []string) string {
	omitsEmpty, omitsZero := slices.Contains(options, "omitempty"), slices.Contains(options, "omitzero")
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		if omitsEmpty || omitsZero {
			return whenPresent
		}
		return orNull
	case reflect.Slice:
		if omitsEmpty && t.Elem().Kind() == reflect.Uint8 {
			return whenNotZero
		}
		if omitsEmpty || omitsZero {
			return whenPresent
		}
		return orNull
	case reflect.Struct:
		if omitsZero {
			return whenNotZero
		}
		return orZero
	default:
		if omitsEmpty || omitsZero {
			return whenNotZero
		}
		return orZero
	}
}
