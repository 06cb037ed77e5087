package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sort"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/yaml"
)

// A script has an object and changes of it by JSON pointer. Changes of Create apply before the object
// is created, changes of Update after it was created and before it is updated. Null removes a field.
type script struct {
	Base   map[string]any            `json:"base"`
	Create map[string]map[string]any `json:"create"`
	Update map[string]map[string]any `json:"update"`
}

// written is the result of a write.
type written struct {
	About  string         `json:"about"`
	Object map[string]any `json:"object"`
	Old    map[string]any `json:"old,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	Error  *rejection     `json:"error,omitempty"`
}

type rejection struct {
	Message string               `json:"message"`
	Causes  []metav1.StatusCause `json:"causes"`
}

const namespace = "default"

func play(file string) ([]written, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	s := script{}
	if err := yaml.UnmarshalStrict(text, &s); err != nil {
		return nil, err
	}
	base := (&unstructured.Unstructured{Object: s.Base})
	kind := base.GroupVersionKind()
	strategy, ok := strategies[kind.GroupKind()]
	if !ok {
		return nil, fmt.Errorf("no strategy for %s", kind)
	}
	w := writer{kind, strategy}
	var all []written
	for _, about := range sorted(s.Create) {
		object, err := changed(s.Base, s.Create[about])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		result, err := w.create(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		result.About = about
		all = append(all, result)
	}
	for _, about := range sorted(s.Update) {
		result, err := w.update(s.Base, s.Update[about])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		result.About = about
		all = append(all, result)
	}
	return all, nil
}

type strategy interface {
	rest.RESTCreateStrategy
	rest.RESTUpdateStrategy
}

type writer struct {
	kind     schema.GroupVersionKind
	strategy strategy
}

func (w writer) context() context.Context {
	own := ""
	if w.strategy.NamespaceScoped() {
		own = namespace
	}
	ctx := genericapirequest.WithNamespace(context.Background(), own)
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: w.kind.Group, APIVersion: w.kind.Version,
	})
}

func (w writer) create(object map[string]any) (written, error) {
	result := written{Object: object}
	internal, err := decode(object)
	if err != nil {
		return result, err
	}
	metadata, err := meta.Accessor(internal)
	if err != nil {
		return result, err
	}
	rest.FillObjectMetaSystemFields(metadata)
	return result, w.record(&result, internal, rest.BeforeCreate(w.strategy, w.context(), internal))
}

func (w writer) update(base, changes map[string]any) (written, error) {
	created, err := w.create(base)
	if err != nil {
		return created, err
	}
	if created.Result == nil {
		return created, fmt.Errorf("the base cannot be created: %s", created.Error.Message)
	}
	old := created.Result
	object, err := changed(old, changes)
	result := written{Object: object, Old: old}
	if err != nil {
		return result, err
	}
	oldInternal, err := decode(old)
	if err != nil {
		return result, err
	}
	internal, err := decode(object)
	if err != nil {
		return result, err
	}
	failed := rest.BeforeUpdate(w.strategy, w.context(), internal, oldInternal)
	return result, w.record(&result, internal, failed)
}

// record stores the object or its rejection in the result.
func (w writer) record(result *written, internal runtime.Object, failed error) error {
	var status apierrors.APIStatus
	if errors.As(failed, &status) && status.Status().Details != nil {
		result.Error = &rejection{status.Status().Message, status.Status().Details.Causes}
		return nil
	}
	if failed != nil {
		return failed
	}
	object, err := encode(internal, w.kind)
	if err != nil {
		return err
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		// Constants, so that the output does not change between runs.
		metadata["uid"] = "11111111-2222-4333-8444-555555555555"
		metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
		metadata["resourceVersion"] = "1"
	}
	result.Result = object
	return nil
}

func sorted(changes map[string]map[string]any) []string {
	names := make([]string, 0, len(changes))
	for name := range changes {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
