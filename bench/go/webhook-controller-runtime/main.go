// Command webhook-controller-runtime is the Go subject of the benchmarks "inject" and "webhook": a
// mutating webhook for Pods with the server and handler of controller-runtime.
//
// With --reviews it handles that many copies of a review in this process. Otherwise it serves the
// webhook over TLS until the process is stopped. bench/README.md describes the protocol of the
// subjects.
package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func main() {
	sidecars := flag.String("sidecars", "", "file with the containers and volumes to inject")
	review := flag.String("review", "", "file with the review to handle")
	reviews := flag.Int("reviews", 0, "how many times the review is handled in each pass")
	response := flag.String("response", "", "file for the last response")
	certs := flag.String("certs", ".", "folder of tls.crt and tls.key")
	port := flag.Int("port", 0, "port on the loopback interface")
	flag.Parse()
	log.SetLogger(zap.New())

	var set Sidecars
	if err := json.Unmarshal(read(*sidecars), &set); err != nil {
		fail("read %s: %v", *sidecars, err)
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		fail("register the kinds: %v", err)
	}
	hook := admission.WithDefaulter[*corev1.Pod](scheme, &set)
	if *reviews > 0 {
		inject(hook, read(*review), *reviews, *response)
		return
	}
	server := webhook.NewServer(webhook.Options{
		Host:    "127.0.0.1",
		Port:    *port,
		CertDir: *certs,
		// As in projects of kubebuilder and in the other subject.
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
	})
	server.Register("/mutate--v1-pod", hook)
	if err := server.Start(context.Background()); err != nil {
		fail("serve: %v", err)
	}
}

func read(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		fail("read %s: %v", path, err)
	}
	return text
}

// fail prints a message and exits with status 1.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "webhook-controller-runtime: "+format+"\n", args...)
	os.Exit(1)
}
