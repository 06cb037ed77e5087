// Command mydaemonset-controller-runtime is the Go subject of the benchmarks "rest" and "loop":
// MyDaemonSet with controller-runtime. It has the features of operators/mydaemonset except maxSurge
// and the backoff of failed Pods.
package main

import (
	"context"
	"flag"
	"os"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubewright/kubewright/bench/go/mydaemonset-controller-runtime/api"
)

// validator rejects a set without an image.
type validator struct{}

func (validator) ValidateCreate(_ context.Context, set *api.MyDaemonSet) (admission.Warnings, error) {
	return nil, check(set)
}

func (validator) ValidateUpdate(_ context.Context, _, set *api.MyDaemonSet) (admission.Warnings, error) {
	return nil, check(set)
}

func (validator) ValidateDelete(context.Context, *api.MyDaemonSet) (admission.Warnings, error) {
	return nil, nil
}

func check(set *api.MyDaemonSet) error {
	if strings.TrimSpace(set.Spec.Image) != "" {
		return nil
	}
	kind := schema.GroupKind{Group: api.GroupVersion.Group, Kind: "MyDaemonSet"}
	missing := field.Required(field.NewPath("spec", "image"), "image is required")
	return apierrors.NewInvalid(kind, set.Name, field.ErrorList{missing})
}

func main() {
	// controller-runtime registers --kubeconfig on the same flag set.
	certs := flag.String("webhook-certs", "", "folder of tls.crt and tls.key")
	port := flag.Int("webhook-port", 9443, "port of the webhook server")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*certs, *port); err != nil {
		ctrl.Log.Error(err, "the operator failed")
		os.Exit(1)
	}
}

func run(certs string, port int) error {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, api.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:        scheme,
		Metrics:       metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certs}),
	})
	if err != nil {
		return err
	}
	r := &reconciler{client: mgr.GetClient(), events: mgr.GetEventRecorder("mydaemonset")}
	if err := r.setUp(mgr); err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(mgr, &api.MyDaemonSet{}).WithValidator(validator{}).Complete(); err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
