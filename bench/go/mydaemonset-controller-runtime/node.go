package main

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

// role is the role of a node for a set.
type role int

const (
	runs role = iota
	// keeps means that a running Pod stays on the node, and that no new one starts.
	keeps
	shuns
)

// tolerated are the taints that every Pod tolerates, as those of a DaemonSet do.
var tolerated = []corev1.Toleration{
	{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
	{Key: corev1.TaintNodeDiskPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeMemoryPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodePIDPressure, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
}

func tolerations(set *api.MyDaemonSet) []corev1.Toleration {
	all := slices.Concat(set.Spec.Tolerations, tolerated)
	if set.Spec.HostNetwork {
		all = append(all, corev1.Toleration{
			Key: corev1.TaintNodeNetworkUnavailable, Operator: corev1.TolerationOpExists,
			Effect: corev1.TaintEffectNoSchedule,
		})
	}
	return all
}

func roleOf(node *corev1.Node, set *api.MyDaemonSet) role {
	if !selected(node, set) {
		return shuns
	}
	result := runs
	for _, taint := range node.Spec.Taints {
		if slices.ContainsFunc(tolerations(set), func(t corev1.Toleration) bool { return tolerates(&t, &taint) }) {
			continue
		}
		switch taint.Effect {
		case corev1.TaintEffectNoExecute:
			return shuns
		case corev1.TaintEffectNoSchedule:
			result = keeps
		}
	}
	return result
}

func tolerates(t *corev1.Toleration, taint *corev1.Taint) bool {
	if (t.Effect != "" && t.Effect != taint.Effect) || (t.Key != "" && t.Key != taint.Key) {
		return false
	}
	return t.Operator == corev1.TolerationOpExists || t.Value == taint.Value
}

// selected returns whether the node selector and the required affinity match the node.
func selected(node *corev1.Node, set *api.MyDaemonSet) bool {
	for key, value := range set.Spec.NodeSelector {
		if found, ok := node.Labels[key]; !ok || found != value {
			return false
		}
	}
	affinity := set.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil ||
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return true
	}
	terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	return slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool { return met(&term, node) })
}

func met(term *corev1.NodeSelectorTerm, node *corev1.Node) bool {
	for _, one := range term.MatchExpressions {
		value, ok := node.Labels[one.Key]
		if !meets(&one, value, ok) {
			return false
		}
	}
	for _, one := range term.MatchFields {
		if one.Key != "metadata.name" || !meets(&one, node.Name, true) {
			return false
		}
	}
	return len(term.MatchExpressions)+len(term.MatchFields) > 0
}

func meets(one *corev1.NodeSelectorRequirement, value string, found bool) bool {
	switch one.Operator {
	case corev1.NodeSelectorOpIn:
		return found && slices.Contains(one.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !found || !slices.Contains(one.Values, value)
	case corev1.NodeSelectorOpExists:
		return found
	case corev1.NodeSelectorOpDoesNotExist:
		return !found
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		have, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(one.Values) != 1 {
			return false
		}
		bound, err := strconv.ParseInt(one.Values[0], 10, 64)
		return err == nil && (one.Operator == corev1.NodeSelectorOpGt) == (have > bound) && have != bound
	}
	return false
}
