package main

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

func TestEachNodeHasOnePodAndTheSecondPlanIsEmpty(t *testing.T) {
	set := &api.MyDaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "s", UID: "u"}, Spec: api.MyDaemonSetSpec{Image: "a:1"}}
	nodes := make([]corev1.Node, 3)
	for i, name := range []string{"a", "b", "c"} {
		nodes[i].Name = name
	}
	nodes[2].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoExecute}}
	first := newPlan(set, nodes, nil, time.Now())
	if len(first.missing) != 2 || len(first.surplus) != 0 {
		t.Fatalf("missing %d, surplus %d", len(first.missing), len(first.surplus))
	}
	pods := make([]corev1.Pod, 2)
	for i, pod := range first.missing {
		pods[i] = *pod
		pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	second := newPlan(set, nodes, pods, time.Now())
	if len(second.missing)+len(second.surplus) != 0 || second.status.AvailableReplicas != 2 {
		t.Errorf("second plan: %+v", second)
	}
	changed := set.DeepCopy()
	changed.Spec.Image = "a:2"
	third := newPlan(changed, nodes, pods, time.Now())
	if len(third.surplus) != 1 || third.status.UpdatedReplicas != 0 {
		t.Errorf("plan of a rollout: %+v", third)
	}
}
