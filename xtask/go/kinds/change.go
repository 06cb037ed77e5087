package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// changed answers the object with each value put to where its JSON pointer leads.
func changed(object, changes map[string]any) (map[string]any, error) {
	var root any = runtime.DeepCopyJSONValue(normal(object))
	pointers := make([]string, 0, len(changes))
	for pointer := range changes {
		pointers = append(pointers, pointer)
	}
	sort.Strings(pointers)
	for _, pointer := range pointers {
		var err error
		parts := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
		if root, err = put(root, parts, normal(changes[pointer])); err != nil {
			return nil, fmt.Errorf("%s: %w", pointer, err)
		}
	}
	return root.(map[string]any), nil
}

// normal makes whole numbers of those that were read as fractions.
func normal(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = normal(member)
		}
		return value
	case []any:
		for i, item := range value {
			value[i] = normal(item)
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
