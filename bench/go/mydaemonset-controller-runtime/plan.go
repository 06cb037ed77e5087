package main

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

// plan has the Pods to create and to delete, and the status of the set.
type plan struct {
	missing []*corev1.Pod
	surplus []*corev1.Pod
	next    time.Duration
	status  api.MyDaemonSetStatus
}

// newPlan compares the nodes that should run a Pod of the set with the Pods that the set owns.
func newPlan(set *api.MyDaemonSet, nodes []corev1.Node, pods []corev1.Pod, now time.Time) plan {
	p := plan{status: api.MyDaemonSetStatus{ObservedGeneration: set.Generation}}
	byNode := map[string][]*corev1.Pod{}
	for i := range pods {
		name := nodeOf(&pods[i])
		byNode[name] = append(byNode[name], &pods[i])
	}
	var outdated []*corev1.Pod
	for i := range nodes {
		name := nodes[i].Name
		present := byNode[name]
		delete(byNode, name)
		slices.SortFunc(present, func(a, b *corev1.Pod) int {
			return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		outdated = append(outdated, p.planNode(set, name, roleOf(&nodes[i], set), present, now)...)
	}
	for _, onUnknownNode := range byNode {
		for _, pod := range onUnknownNode {
			if pod.Spec.NodeName == "" {
				p.discard(pod)
			}
		}
	}
	p.status.UnavailableReplicas = p.status.DesiredReplicas - p.status.AvailableReplicas
	room := unavailable(set, int(p.status.DesiredReplicas)) - int(p.status.UnavailableReplicas)
	for _, pod := range outdated {
		rest, ready := untilAvailable(pod, set, now)
		if serves := ready && rest == 0; !serves || room > 0 {
			p.discard(pod)
			if serves {
				room--
			}
		}
	}
	return p
}

// planNode plans the Pods of a node. Returns the Pods with an earlier revision.
func (p *plan) planNode(set *api.MyDaemonSet, node string, role role, present []*corev1.Pod, now time.Time) []*corev1.Pod {
	if role == runs {
		p.status.DesiredReplicas++
		if len(present) == 0 {
			p.missing = append(p.missing, podFor(set, node))
		}
	}
	var outdated []*corev1.Pod
	staying := 0
	for _, pod := range present {
		switch {
		case role == shuns, pod.Status.Phase == corev1.PodFailed, pod.Status.Phase == corev1.PodSucceeded, staying > 0:
			p.discard(pod)
			continue
		case pod.Labels[revisionLabel] != revision(set):
			outdated = append(outdated, pod)
		}
		staying++
		p.count(set, role, pod, now)
	}
	return outdated
}

func (p *plan) count(set *api.MyDaemonSet, role role, pod *corev1.Pod, now time.Time) {
	if role != runs {
		p.status.MisscheduledReplicas++
		return
	}
	p.status.CurrentReplicas++
	if pod.Labels[revisionLabel] == revision(set) {
		p.status.UpdatedReplicas++
	}
	rest, ready := untilAvailable(pod, set, now)
	switch {
	case ready && rest == 0:
		p.status.ReadyReplicas++
		p.status.AvailableReplicas++
	case ready:
		p.status.ReadyReplicas++
		if p.next == 0 || rest < p.next {
			p.next = rest
		}
	}
}

func (p *plan) discard(pod *corev1.Pod) {
	if pod.DeletionTimestamp == nil {
		p.surplus = append(p.surplus, pod)
	}
}

func unavailable(set *api.MyDaemonSet, nodes int) int {
	defaultMax := intstr.FromInt32(1)
	most, err := intstr.GetScaledValueFromIntOrPercent(cmp.Or(set.Spec.UpdateStrategy.MaxUnavailable, &defaultMax), nodes, true)
	if err != nil {
		return 1
	}
	return max(1, most)
}

// report updates the status of the set.
func (p *plan) report(status *api.MyDaemonSetStatus) {
	conditions := status.Conditions
	*status = p.status
	status.Conditions = conditions
	available := metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "AllNodesAvailable"}
	if status.UnavailableReplicas > 0 {
		available.Status, available.Reason = metav1.ConditionFalse, "NodesUnavailable"
	}
	progressing := metav1.Condition{Type: "Progressing", Status: metav1.ConditionTrue, Reason: "RollingOut"}
	if status.UpdatedReplicas == status.DesiredReplicas && status.UnavailableReplicas == 0 {
		progressing.Status, progressing.Reason = metav1.ConditionFalse, "Complete"
	}
	meta.SetStatusCondition(&status.Conditions, available)
	meta.SetStatusCondition(&status.Conditions, progressing)
}
