package main

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// injected is the annotation with the names of the injected containers.
const injected = "bench.kubewright.dev/injected"

// Sidecars has the containers and volumes to inject. The Rust subject implements the same mutation.
type Sidecars struct {
	Name     string             `json:"name"`
	Selector map[string]string  `json:"selector"`
	Before   []corev1.Container `json:"before"`
	After    []corev1.Container `json:"after"`
	Volumes  []corev1.Volume    `json:"volumes"`
}

// Default adds the containers and volumes to the Pod. It is idempotent.
func (s *Sidecars) Default(_ context.Context, pod *corev1.Pod) error {
	for key, value := range s.Selector {
		if found, ok := pod.Labels[key]; !ok || found != value {
			return nil
		}
	}
	if _, done := pod.Annotations[injected]; done {
		return nil
	}
	all := slices.Concat(s.Before, s.After)
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].Name)
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[injected] = s.Name + ":" + strings.Join(names, ",")
	pod.Spec.Containers = slices.Concat(marked(s.Before), pod.Spec.Containers, marked(s.After))
	for i := range s.Volumes {
		pod.Spec.Volumes = append(pod.Spec.Volumes, *s.Volumes[i].DeepCopy())
	}
	return nil
}

func marked(containers []corev1.Container) []corev1.Container {
	copies := make([]corev1.Container, 0, len(containers))
	for i := range containers {
		container := *containers[i].DeepCopy()
		container.Env = append(container.Env, corev1.EnvVar{Name: "IS_INJECTED", Value: "true"})
		copies = append(copies, container)
	}
	return copies
}
