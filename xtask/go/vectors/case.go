package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// A testCase is a script: a sequence of writes to an object.
type testCase struct {
	About string `json:"about"`
	// The schema of a custom resource; absent for built-in kinds.
	Schema object `json:"schema,omitempty"`
	Steps  []step `json:"steps"`
}

// A step is a write. Exactly one of Apply and Update is set.
type step struct {
	Apply       object `json:"apply,omitempty"`
	Update      object `json:"update,omitempty"`
	Manager     string `json:"manager"`
	Force       bool   `json:"force,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	// Top-level fields that the write cannot change.
	Reset []string `json:"reset,omitempty"`
	// The result of the library.
	Object object   `json:"object,omitempty"`
	Error  *failure `json:"error,omitempty"`
}

// An object decodes whole numbers as integers, as the server does.
type object map[string]interface{}

func (o *object) UnmarshalJSON(text []byte) error {
	out := map[string]interface{}{}
	err := utiljson.Unmarshal(text, &out)
	*o = out
	return err
}

// A failure is the error in the response to a client.
type failure struct {
	Code    int32                `json:"code"`
	Message string               `json:"message"`
	Causes  []metav1.StatusCause `json:"causes,omitempty"`
}

func (c *testCase) run() error {
	var live runtime.Object
	for i := range c.Steps {
		s := &c.Steps[i]
		sent := s.Apply
		if sent == nil {
			sent = s.Update
		}
		world, err := newWorld(sent, c.Schema)
		if err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		next, err := s.write(world, live)
		s.Object, s.Error = nil, nil
		if err != nil {
			s.Error = describe(err)
			continue
		}
		if next, err = setConstants(next, i); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if s.Object, err = toMap(next); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		live = next
	}
	return nil
}

func (s *step) write(w *world, live runtime.Object) (runtime.Object, error) {
	fm, err := w.fieldManager(s.Subresource, s.Reset)
	if err != nil {
		return nil, err
	}
	base := live
	if base == nil {
		if base, err = w.creater.New(w.kind); err != nil {
			return nil, err
		}
	}
	base = base.DeepCopyObject()
	if s.Apply != nil {
		return fm.Apply(base, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(s.Apply)}, s.Manager, s.Force)
	}
	sent, err := w.decode(s.Update)
	if err != nil {
		return nil, err
	}
	if live != nil {
		copyUID(sent, live)
	}
	return fm.UpdateNoErrors(base, sent, s.Manager), nil
}

// copyUID sets the uid of a written object, as the server does before it stores the object.
func copyUID(sent, live runtime.Object) {
	to, _ := meta.Accessor(sent)
	from, _ := meta.Accessor(live)
	to.SetUID(from.GetUID())
}

// setConstants sets the uid, and the time of every entry that the step changed, to constants. Entries
// of the step have the current time, which is later than those constants.
func setConstants(next runtime.Object, index int) (runtime.Object, error) {
	accessor, err := meta.Accessor(next)
	if err != nil {
		return nil, err
	}
	accessor.SetUID("u-1")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	entries := accessor.GetManagedFields()
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.After(start.Add(time.Hour)) {
			entries[i].Time = &metav1.Time{Time: start.Add(time.Duration(index) * time.Second)}
		}
	}
	accessor.SetManagedFields(entries)
	return next, nil
}

func describe(err error) *failure {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return &failure{Code: 500, Message: err.Error()}
	}
	f := &failure{Code: status.Status().Code, Message: status.Status().Message}
	if status.Status().Details != nil {
		f.Causes = status.Status().Details.Causes
	}
	// The library iterates over the managers in random order.
	sort.SliceStable(f.Causes, func(i, j int) bool { return f.Causes[i].Message < f.Causes[j].Message })
	return f
}

func toMap(from runtime.Object) (object, error) {
	text, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	out := object{}
	return out, out.UnmarshalJSON(text)
}
