// Package api has the kind MyDaemonSet.
package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GroupVersion is where the kind is served.
var GroupVersion = schema.GroupVersion{Group: "apps.kubewright.dev", Version: "v1beta1"}

// MyDaemonSet runs one Pod on every node.
type MyDaemonSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   MyDaemonSetSpec   `json:"spec"`
	Status MyDaemonSetStatus `json:"status,omitempty"`
}

// MyDaemonSetSpec is the desired state.
type MyDaemonSetSpec struct {
	Image           string              `json:"image"`
	NodeSelector    map[string]string   `json:"nodeSelector,omitempty"`
	Affinity        *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations     []corev1.Toleration `json:"tolerations,omitempty"`
	HostNetwork     bool                `json:"hostNetwork,omitempty"`
	MinReadySeconds int32               `json:"minReadySeconds,omitempty"`
	UpdateStrategy  UpdateStrategy      `json:"updateStrategy,omitempty"`
}

// UpdateStrategy says how a change of the spec reaches the Pods.
type UpdateStrategy struct {
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty"`
}

// MyDaemonSetStatus is the observed state.
type MyDaemonSetStatus struct {
	ObservedGeneration   int64              `json:"observedGeneration"`
	DesiredReplicas      int32              `json:"desiredReplicas"`
	CurrentReplicas      int32              `json:"currentReplicas"`
	UpdatedReplicas      int32              `json:"updatedReplicas"`
	ReadyReplicas        int32              `json:"readyReplicas"`
	AvailableReplicas    int32              `json:"availableReplicas"`
	UnavailableReplicas  int32              `json:"unavailableReplicas"`
	MisscheduledReplicas int32              `json:"misscheduledReplicas"`
	Conditions           []metav1.Condition `json:"conditions"`
}

// MyDaemonSetList is a list of them.
type MyDaemonSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []MyDaemonSet `json:"items"`
}

// AddToScheme registers the kind.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &MyDaemonSet{}, &MyDaemonSetList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
