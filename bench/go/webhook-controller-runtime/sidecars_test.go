package main

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
)

func shared(t *testing.T) (Sidecars, *corev1.Pod) {
	t.Helper()
	decode := func(path string, into any) {
		text, err := os.ReadFile("../../webhook/" + path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var set Sidecars
	var review admissionv1.AdmissionReview
	pod := &corev1.Pod{}
	decode("sidecars.json", &set)
	decode("review.json", &review)
	if err := json.Unmarshal(review.Request.Object.Raw, pod); err != nil {
		t.Fatal(err)
	}
	return set, pod
}

func TestSidecarsStandAroundTheContainersAndArePutInOnce(t *testing.T) {
	set, pod := shared(t)
	for range 2 {
		if err := set.Default(context.Background(), pod); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	if want := []string{"proxy", "server", "worker", "logger"}; !reflect.DeepEqual(names, want) {
		t.Errorf("containers %q, want %q", names, want)
	}
}

func TestAPodWithoutTheLabelStaysAsItIs(t *testing.T) {
	set, pod := shared(t)
	pod.Labels["app"] = "api"
	before := pod.DeepCopy()
	if err := set.Default(context.Background(), pod); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, pod) {
		t.Error("the Pod was changed")
	}
}
