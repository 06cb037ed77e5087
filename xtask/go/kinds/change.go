package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// changed returns the object with each value set at its JSON pointer.
func changed(object, changes map[string]any) (map[string]any, error) {
	var root any = runtime.DeepCopyJSONValue(normalize(object))
	pointers := make([]string, 0, len(changes))
	for pointer := range changes {
		pointers = append(pointers, pointer)
	}
	sort.Strings(pointers)
	for _, pointer := range pointers {
		var err error
		parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		if root, err = put(root, parts, normalize(changes[pointer])); err != nil {
			return nil, fmt.Errorf("%s: %w", pointer, err)
		}
	}
	return root.(map[string]any), nil
}

// normalize converts whole numbers, which were decoded as float64, to int64.
func normalize(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = normalize(member)
		}
		return value
	case []any:
		for i, item := range value {
			value[i] = normalize(item)
		}
		return value
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
		return value
	default:
		return value
	}
}

func put(in any, parts []string, value any) (any, error) {
	if len(parts) == 0 {
		return value, nil
	}
	name := strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[0])
	switch in := in.(type) {
	case nil:
		return put(map[string]any{}, parts, value)
	case map[string]any:
		if len(parts) == 1 && value == nil {
			delete(in, name)
			return in, nil
		}
		below, err := put(in[name], parts[1:], value)
		in[name] = below
		return in, err
	case []any:
		if name == "-" {
			below, err := put(nil, parts[1:], value)
			return append(in, below), err
		}
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(in) {
			return nil, fmt.Errorf("%q is not in the list", name)
		}
		if len(parts) == 1 && value == nil {
			return append(in[:i:i], in[i+1:]...), nil
		}
		in[i], err = put(in[i], parts[1:], value)
		return in, err
	default:
		return nil, fmt.Errorf("%q leads into %v", name, in)
	}
}
