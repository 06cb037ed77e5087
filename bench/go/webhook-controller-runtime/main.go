// Command webhook-controller-runtime is the Go side of the benchmarks "inject" and "webhook": a
// mutating webhook for Pods on controller-runtime's own server and handler.
//
// With --reviews the review is answered so many times in this process; without, the webhook is
// served over TLS until the process is ended. The protocol of the subjects stands in
// bench/README.md.
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
	sidecars := flag.String("sidecars", "", "what is put into Pods")
	review := flag.String("review", "", "the review that is answered")
	reviews := flag.Int("reviews", 0, "how often it is answered in each pass")
	answer := flag.String("answer", "", "where the last answer goes")
	certs := flag.String("certs", ".", "the folder with tls.crt and tls.key")
	port := flag.Int("port", 0, "the port on loopback")
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
		inject(hook, read(*review), *reviews, *answer)
		return
	}
	server := webhook.NewServer(webhook.Options{
		Host:    "127.0.0.1",
		Port:    *port,
		CertDir: *certs,
		// As kubebuilder's projects have it, and as the other subjects do.
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

// fail ends the program with a message that says what was tried.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "webhook-controller-runtime: "+format+"\n", args...)
	os.Exit(1)
}
