// Package served lists the kinds of the objects in responses and requests of an API server.
package served

import (
	"reflect"
	"sort"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// A Kind is a kind that is served in the default configuration.
type Kind struct {
	schema.GroupVersionKind
	Type reflect.Type
}

// sent are the kinds of requests to subresources and of reviews. They have no lists.
var sent = []schema.GroupVersionKind{
	{Group: "", Version: "v1", Kind: "Binding"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenRequest"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "LocalSubjectAccessReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview"},
	{Group: "autoscaling", Version: "v1", Kind: "Scale"},
	{Group: "policy", Version: "v1", Kind: "Eviction"},
}

// Kinds returns the kinds that have a list, those that only requests contain, and those of other
// responses such as Status, sorted.
func Kinds() ([]Kind, error) {
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			return nil, err
		}
	}
	kinds := []Kind{
		{metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"), reflect.TypeFor[metav1.PartialObjectMetadata]()},
		{metav1.SchemeGroupVersion.WithKind("DeleteOptions"), reflect.TypeFor[metav1.DeleteOptions]()},
		{schema.GroupVersionKind{Version: "v1", Kind: "Status"}, reflect.TypeFor[metav1.Status]()},
	}
	for _, gvk := range sent {
		object, err := scheme.Scheme.New(gvk)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, Kind{gvk, reflect.TypeOf(object).Elem()})
	}
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		inDefaults := gvk.Version == "v1" || gvk.Group == "autoscaling" && gvk.Version == "v2"
		_, isObject := reflect.New(t).Interface().(metav1.ObjectMetaAccessor)
		isListed := scheme.Scheme.Recognizes(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
		if inDefaults && isObject && isListed {
			kinds = append(kinds, Kind{gvk, t})
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	return kinds, nil
}
