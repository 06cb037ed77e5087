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

// A script holds an object, and what is changed of it, by JSON pointer, before it is created, or
// after it was created and before it is updated. Null removes.
type script struct {
	Base   map[string]any            `json:"base"`
	Create map[string]map[string]any `json:"create"`
	Update map[string]map[string]any `json:"update"`
}

// What became of a write.
type written struct {
	About  string         `json:"about"`
	Object map[string]any `json:"object"`
	Old    map[string]any `json:"old,omitempty"`
	Result map[string]any `json:"result,omitempty"`
	Error  *refusal       `json:"error,omitempty"`
}

type refusal struct {
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
		return nil, fmt.Errorf("no strategy is known for %s", kind)
	}
	w := writer{kind, strategy}
	var all []written
	for _, about := range sorted(s.Create) {
		object, err := changed(s.Base, s.Create[about])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		answer, err := w.create(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		answer.About = about
		all = append(all, answer)
	}
	for _, about := range sorted(s.Update) {
		answer, err := w.update(s.Base, s.Update[about])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", about, err)
		}
		answer.About = about
		all = append(all, answer)
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
	answer := written{Object: object}
	internal, err := decode(object)
	if err != nil {
		return answer, err
	}
	metadata, err := meta.Accessor(internal)
	if err != nil {
		return answer, err
	}
	rest.FillObjectMetaSystemFields(metadata)
	return answer, w.tell(&answer, internal, rest.BeforeCreate(w.strategy, w.context(), internal))
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
	answer := written{Object: object, Old: old}
	if err != nil {
		return answer, err
	}
	oldInternal, err := decode(old)
	if err != nil {
		return answer, err
	}
	internal, err := decode(object)
	if err != nil {
		return answer, err
	}
	failed := rest.BeforeUpdate(w.strategy, w.context(), internal, oldInternal)
	return answer, w.tell(&answer, internal, failed)
}

// tell notes the object, or the refusal of it.
func (w writer) tell(answer *written, internal runtime.Object, failed error) error {
	var status apierrors.APIStatus
	if errors.As(failed, &status) && status.Status().Details != nil {
		answer.Error = &refusal{status.Status().Message, status.Status().Details.Causes}
		return nil
	}
	if failed != nil {
		return failed
	}
	result, err := encode(internal, w.kind)
	if err != nil {
		return err
	}
	if metadata, ok := result["metadata"].(map[string]any); ok {
		// One that the base names is kept, so that an update is one of the same object.
		metadata["uid"] = "11111111-2222-4333-8444-555555555555"
		metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
		metadata["resourceVersion"] = "1"
	}
	answer.Result = result
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
