package main

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/event"
	namespaces "k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
)

// strategies are the steps of a server for each kind between decoding and storing.
var strategies = map[schema.GroupKind]strategy{
	{Kind: "ConfigMap"}:                           configmap.Strategy,
	{Kind: "Event"}:                               event.Strategy,
	{Kind: "Namespace"}:                           namespaces.Strategy,
	{Kind: "Node"}:                                node.Strategy,
	{Kind: "Pod"}:                                 pod.Strategy,
	{Kind: "Secret"}:                              secret.Strategy,
	{Kind: "Service"}:                             service.Strategy,
	{Kind: "ServiceAccount"}:                      serviceaccount.Strategy,
	{Group: "apps", Kind: "Deployment"}:           deployment.Strategy,
	{Group: "coordination.k8s.io", Kind: "Lease"}: lease.Strategy,
	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               role.Strategy,
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        rolebinding.Strategy,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        clusterrole.Strategy,
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: clusterrolebinding.Strategy,
}
