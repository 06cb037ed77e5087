// Command objects prints objects of every kind of an API server as JSON and as protobuf: without
// fields, with a value in every field, and with explicit zero values where these differ from absent
// ones.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubewright/kubewright/xtask/go/internal/served"
)

// An Object is an object in both formats.
type Object struct {
	Group    string          `json:"group"`
	Version  string          `json:"version"`
	Kind     string          `json:"kind"`
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
}

type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	kinds, err := served.Kinds()
	if err != nil {
		return err
	}
	typed := map[reflect.Type]metav1.TypeMeta{}
	for _, kind := range kinds {
		typed[kind.Type] = metav1.TypeMeta{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	}
	var objects []Object
	for _, kind := range kinds {
		for _, fill := range []int{nothing, something, zeros} {
			value := reflect.New(kind.Type)
			f := filler{fill: fill, typed: typed}
			f.value(value.Elem(), 0)
			object, err := write(kind, value, typed)
			if err != nil {
				return fmt.Errorf("%v: %w", kind, err)
			}
			objects = append(objects, object)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(objects)
}

// write encodes a value like a server, which decodes its objects from protobuf in storage.
func write(kind served.Kind, value reflect.Value, typed map[reflect.Type]metav1.TypeMeta) (Object, error) {
	stored, err := value.Interface().(message).Marshal()
	if err != nil {
		return Object{}, err
	}
	read := reflect.New(kind.Type)
	if err := read.Interface().(message).Unmarshal(stored); err != nil {
		return Object{}, err
	}
	setKinds(read.Elem(), typed)
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(read.Interface()); err != nil {
		return Object{}, err
	}
	sent, err := read.Interface().(message).Marshal()
	return Object{kind.Group, kind.Version, kind.Kind, bytes.TrimSpace(text.Bytes()), sent}, err
}

// setKinds sets the kinds of nested objects. They are not stored; a server sets them.
func setKinds(v reflect.Value, typed map[reflect.Type]metav1.TypeMeta) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			setKinds(v.Elem(), typed)
		}
	case reflect.Slice:
		for i := range v.Len() {
			setKinds(v.Index(i), typed)
		}
	case reflect.Struct:
		if meta := v.FieldByName("TypeMeta"); meta.IsValid() {
			meta.Set(reflect.ValueOf(typed[v.Type()]))
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				setKinds(v.Field(i), typed)
			}
		}
	}
}

// The values of the fields.
const (
	nothing = iota
	something
	zeros
)

// The maximum depth, because schemas contain schemas.
const maxDepth = 24

type filler struct {
	fill  int
	typed map[reflect.Type]metav1.TypeMeta
	count int
}

func (f *filler) value(v reflect.Value, depth int) {
	if f.fill == nothing || depth > maxDepth {
		return
	}
	f.count++
	if f.special(v, depth) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.value(v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			if f.fill == something {
				v.SetBytes([]byte(fmt.Sprintf("\x00\xff%d", f.count)))
			} else {
				v.SetBytes([]byte{})
			}
			return
		}
		length := 1
		if v.Type().Elem().Kind() != reflect.Struct {
			length = 2
		}
		v.Set(reflect.MakeSlice(v.Type(), length, length))
		for i := range length {
			f.value(v.Index(i), depth+1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 2 {
			element := reflect.New(v.Type().Elem()).Elem()
			f.value(element, depth+1)
			key := reflect.ValueOf(fmt.Sprintf("key.io/%d", i)).Convert(v.Type().Key())
			v.SetMapIndex(key, element)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				f.value(v.Field(i), depth+1)
			}
		}
	default:
		if f.fill == something {
			f.scalar(v)
		}
	}
}

func (f *filler) scalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d <é\u2028\"", f.count))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(f.count) * int64(1-2*(f.count%2)))
	case reflect.Float64:
		v.SetFloat(float64(f.count) / 2)
	}
}

// special sets a value of a type with a custom encoding. Returns false for other types.
func (f *filler) special(v reflect.Value, depth int) bool {
	isZero := f.fill == zeros
	if !v.CanAddr() {
		return false
	}
	switch value := v.Addr().Interface().(type) {
	case *metav1.Time:
		if !isZero {
			value.Time = time.Unix(1700000000+int64(f.count), 0)
		}
	case *metav1.MicroTime:
		if !isZero {
			value.Time = time.Unix(1700000000, int64(f.count%3)*1000*250)
		}
	case *resource.Quantity:
		if !isZero {
			*value = resource.MustParse(fmt.Sprintf("%dm", f.count*100+1))
		}
	case *intstr.IntOrString:
		if !isZero && f.count%2 == 0 {
			*value = intstr.FromString("50%")
		} else if !isZero {
			*value = intstr.FromInt32(int32(f.count))
		}
	case *runtime.RawExtension:
		if !isZero {
			value.Raw = []byte(`{"b":[1,2.0,-3,1e3,"x<"],"a":null}`)
		}
	case *metav1.FieldsV1:
		if !isZero {
			value.Raw = []byte(`{"f:metadata":{"f:labels":{".":{}}}}`)
		}
	case *apiextensionsv1.JSON:
		if !isZero {
			value.Raw = []byte([]string{`{"a":[true]}`, `7`, `"x"`}[f.count%3])
		}
	case *apiextensionsv1.JSONSchemaPropsOrArray:
		schemas := []apiextensionsv1.JSONSchemaProps{{Type: "string"}, {Type: "integer"}}
		if isZero {
			schemas = nil
		} else if f.count%2 == 0 {
			value.Schema = &schemas[0]
			return true
		}
		value.JSONSchemas = schemas
	case *apiextensionsv1.JSONSchemaPropsOrBool:
		switch {
		case isZero:
		case f.count%2 == 0:
			value.Allows = true
		default:
			value.Allows, value.Schema = true, &apiextensionsv1.JSONSchemaProps{Format: "int64"}
		}
	case *apiextensionsv1.JSONSchemaPropsOrStringArray:
		switch {
		case isZero:
		case f.count%2 == 0:
			value.Property = []string{"a", "b"}
		default:
			value.Schema = &apiextensionsv1.JSONSchemaProps{Title: "t"}
		}
	case *apiextensionsv1.JSONSchemaProps:
		// Nested schemas all have the same encoding.
		if depth > 10 {
			return true
		}
		return false
	default:
		return false
	}
	return true
}
