package main

import (
	"encoding/json"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A world has the types and converters that the library needs for a kind.
type world struct {
	kind    schema.GroupVersionKind
	types   managedfields.TypeConverter
	creater runtime.ObjectCreater
	convert runtime.ObjectConvertor
	custom  bool
}

func newWorld(object, openAPI map[string]interface{}) (*world, error) {
	u := unstructured.Unstructured{Object: object}
	kind := u.GroupVersionKind()
	if openAPI == nil {
		return &world{
			kind:    schema.FromAPIVersionAndKind(builtinVersion(u.GetAPIVersion()), u.GetKind()),
			types:   applyconfigurations.NewTypeConverter(scheme.Scheme),
			creater: scheme.Scheme,
			convert: scheme.Scheme,
		}, nil
	}
	types, err := customTypes(kind, openAPI)
	if err != nil {
		return nil, err
	}
	return &world{kind: kind, types: types, creater: customCreater{}, convert: customConverter{}, custom: true}, nil
}

// builtinVersion returns the served version. A script can apply the version v99, which is not
// served, in a request to v1.
func builtinVersion(apiVersion string) string {
	return strings.Replace(apiVersion, "v99", "v1", 1)
}

func customTypes(kind schema.GroupVersionKind, openAPI map[string]interface{}) (managedfields.TypeConverter, error) {
	text, err := json.Marshal(openAPI)
	if err != nil {
		return nil, err
	}
	props := apiextensionsv1.JSONSchemaProps{}
	if err := json.Unmarshal(text, &props); err != nil {
		return nil, err
	}
	plural := strings.ToLower(kind.Kind) + "s"
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = plural + "." + kind.Group
	crd.Spec.Group = kind.Group
	crd.Spec.Scope = apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
		Plural: plural, Singular: strings.ToLower(kind.Kind), Kind: kind.Kind, ListKind: kind.Kind + "List",
	}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: kind.Version, Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &props},
	}}
	spec, err := builder.BuildOpenAPIV3(crd, kind.Version, builder.Options{})
	if err != nil {
		return nil, fmt.Errorf("build the OpenAPI document: %w", err)
	}
	return managedfields.NewTypeConverter(spec.Components.Schemas, false)
}

func (w *world) fieldManager(subresource string, reset []string) (*managedfields.FieldManager, error) {
	filters := map[fieldpath.APIVersion]fieldpath.Filter{}
	if len(reset) > 0 {
		set := fieldpath.NewSet()
		for _, name := range reset {
			set.Insert(fieldpath.MakePathOrDie(name))
		}
		filters[fieldpath.APIVersion(w.kind.GroupVersion().String())] = fieldpath.NewExcludeSetFilter(set)
	}
	build := managedfields.NewDefaultFieldManager
	if w.custom {
		build = managedfields.NewDefaultCRDFieldManager
	}
	return build(w.types, w.convert, noDefaults{}, w.creater, w.kind, w.kind.GroupVersion(), subresource, filters)
}

// decode decodes an object as the server does: into its Go type, or unstructured for custom
// resources.
func (w *world) decode(object map[string]interface{}) (runtime.Object, error) {
	u := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(object)}
	if w.custom {
		return u, nil
	}
	typed, err := w.creater.New(w.kind)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
		return nil, err
	}
	typed.GetObjectKind().SetGroupVersionKind(w.kind)
	return typed, nil
}

type noDefaults struct{}

func (noDefaults) Default(runtime.Object) {}

type customCreater struct{}

func (customCreater) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

type customConverter struct{}

func (customConverter) Convert(in, out, context interface{}) error {
	return fmt.Errorf("not used")
}

func (customConverter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (customConverter) ConvertFieldLabel(_ schema.GroupVersionKind, _, _ string) (string, string, error) {
	return "", "", fmt.Errorf("not used")
}
