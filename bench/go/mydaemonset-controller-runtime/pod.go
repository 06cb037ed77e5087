package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

const (
	setLabel      = "mydaemonset"
	revisionLabel = "controller-revision-hash"
)

// podFor returns the Pod of the set for a node.
func podFor(set *api.MyDaemonSet, node string) *corev1.Pod {
	affinity := set.Spec.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}},
		}},
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:      set.Name + "-" + hash(string(set.UID)+"/"+node),
			Namespace: set.Namespace,
			Labels:    map[string]string{setLabel: set.Name, revisionLabel: revision(set)},
		},
		Spec: corev1.PodSpec{
			Containers:   []corev1.Container{{Name: "app", Image: set.Spec.Image}},
			Affinity:     affinity,
			HostNetwork:  set.Spec.HostNetwork,
			NodeSelector: set.Spec.NodeSelector,
			Tolerations:  tolerations(set),
		},
	}
}

// revision returns a hash of the fields of the spec that determine the Pods.
func revision(set *api.MyDaemonSet) string {
	spec := &set.Spec
	text, err := json.Marshal([]any{spec.Image, spec.NodeSelector, spec.Affinity, spec.Tolerations, spec.HostNetwork})
	if err != nil {
		return ""
	}
	return hash(string(text))
}

func hash(text string) string {
	sum := fnv.New32a()
	sum.Write([]byte(text))
	return fmt.Sprintf("%08x", sum.Sum32())
}

// nodeOf returns the node that the Pod runs on or is bound to by affinity.
func nodeOf(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return pod.Spec.NodeName
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == "metadata.name" && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}

// untilAvailable returns how long a ready Pod must stay ready to be available; false if it is not
// ready.
func untilAvailable(pod *corev1.Pod, set *api.MyDaemonSet, now time.Time) (time.Duration, bool) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			minReady := time.Duration(set.Spec.MinReadySeconds) * time.Second
			return max(0, minReady-now.Sub(condition.LastTransitionTime.Time)), true
		}
	}
	return 0, false
}
