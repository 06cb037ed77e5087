package api

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopyInto copies the spec.
func (in *MyDaemonSetSpec) DeepCopyInto(out *MyDaemonSetSpec) {
	*out = *in
	out.NodeSelector = maps.Clone(in.NodeSelector)
	out.Affinity = in.Affinity.DeepCopy()
	if in.Tolerations != nil {
		out.Tolerations = make([]corev1.Toleration, len(in.Tolerations))
		for i := range in.Tolerations {
			in.Tolerations[i].DeepCopyInto(&out.Tolerations[i])
		}
	}
	if in.UpdateStrategy.MaxUnavailable != nil {
		most := *in.UpdateStrategy.MaxUnavailable
		out.UpdateStrategy.MaxUnavailable = &most
	}
}

// DeepCopyInto copies the status.
func (in *MyDaemonSetStatus) DeepCopyInto(out *MyDaemonSetStatus) {
	*out = *in
	if in.Conditions != nil {
		out.Conditions = make([]metav1.Condition, len(in.Conditions))
		for i := range in.Conditions {
			in.Conditions[i].DeepCopyInto(&out.Conditions[i])
		}
	}
}

// DeepCopy copies the set.
func (in *MyDaemonSet) DeepCopy() *MyDaemonSet {
	out := &MyDaemonSet{TypeMeta: in.TypeMeta}
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
	in.Status.DeepCopyInto(&out.Status)
	return out
}

// DeepCopyObject copies the set.
func (in *MyDaemonSet) DeepCopyObject() runtime.Object { return in.DeepCopy() }

// DeepCopyObject copies the list.
func (in *MyDaemonSetList) DeepCopyObject() runtime.Object {
	out := &MyDaemonSetList{TypeMeta: in.TypeMeta, Items: make([]MyDaemonSet, len(in.Items))}
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range in.Items {
		out.Items[i] = *in.Items[i].DeepCopy()
	}
	return out
}
