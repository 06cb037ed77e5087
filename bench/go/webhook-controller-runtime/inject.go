package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const passes = 5

// responseRecorder stores the response of the handler.
type responseRecorder struct {
	header http.Header
	body   bytes.Buffer
}

func (w *responseRecorder) Header() http.Header            { return w.header }
func (w *responseRecorder) WriteHeader(int)                {}
func (w *responseRecorder) Write(text []byte) (int, error) { return w.body.Write(text) }

// inject handles a review many times and reports the processor time of one response.
func inject(hook *admission.Webhook, review []byte, count int, file string) {
	response := handle(hook, review)
	taken := make([]float64, passes)
	for pass := range taken {
		before := processorTime()
		for range count {
			response = handle(hook, review)
		}
		taken[pass] = float64((processorTime() - before).Nanoseconds()) / 1e3 / float64(count)
	}
	if err := os.WriteFile(file, response, 0o600); err != nil {
		fail("write %s: %v", file, err)
	}
	slices.Sort(taken)
	line, err := json.Marshal(map[string]any{"metric": "inject_us", "value": taken[passes/2]})
	if err != nil {
		fail("print inject_us: %v", err)
	}
	fmt.Println(string(line))
}

// handle calls the handler as an HTTP server does.
func handle(hook *admission.Webhook, review []byte) []byte {
	request, err := http.NewRequest(http.MethodPost, "/mutate--v1-pod", bytes.NewReader(review))
	if err != nil {
		fail("create a request: %v", err)
	}
	request.Header.Set("Content-Type", "application/json")
	w := responseRecorder{header: http.Header{}}
	hook.ServeHTTP(&w, request)
	return w.body.Bytes()
}

// processorTime returns the processor time of this process, all threads together.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("read the processor time: %v", err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
