// Command latency-controller-runtime is the Go subject of the benchmark "latency": a manager with one
// controller for ConfigMaps. All options have their defaults. Each object has an annotation with the
// time of its create request. The reconciler measures the time since then, and the time since the
// bytes of the event were read from the connection.
//
// bench/README.md describes the protocol of the subjects.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	sent      = "bench.kubewright.dev/sent"
	namespace = "bench-latency"
)

// timer records the latencies of all objects.
type timer struct {
	client    client.Client
	expected  int
	arrival   *arrival
	latencies map[types.NamespacedName]latency
	done      chan struct{}
}

// latency has the time from the create request to the reconciliation of an object, and the time
// since its event was read.
type latency struct{ createMs, eventUs float64 }

// arrival holds the time at which bytes were last read.
type arrival struct{ at atomic.Pointer[time.Time] }

// wrap returns a transport that records when bytes are read.
func (a *arrival) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil {
			response.Body = body{response.Body, a}
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

type body struct {
	io.ReadCloser
	arrival *arrival
}

func (b body) Read(into []byte) (int, error) {
	count, err := b.ReadCloser.Read(into)
	now := time.Now()
	b.arrival.at.Store(&now)
	return count, err
}

// Reconcile runs on one worker, the default, so the fields need no lock.
func (t *timer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	now := time.Now()
	var object corev1.ConfigMap
	if err := t.client.Get(ctx, request.NamespacedName, &object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	at, err := strconv.ParseInt(object.Annotations[sent], 10, 64)
	if _, again := t.latencies[request.NamespacedName]; err != nil || again || object.Namespace != namespace {
		return reconcile.Result{}, nil
	}
	t.latencies[request.NamespacedName] = latency{
		createMs: now.Sub(time.Unix(0, at)).Seconds() * 1e3,
		eventUs:  now.Sub(*t.arrival.at.Load()).Seconds() * 1e6,
	}
	if len(t.latencies) == t.expected {
		close(t.done)
	}
	return reconcile.Result{}, nil
}

func main() {
	// controller-runtime registers --kubeconfig on the same flag set.
	objects := flag.Int("objects", 0, "number of created objects")
	limit := flag.Duration("limit", 2*time.Minute, "timeout for the last object")
	flag.Parse()
	log.SetLogger(zap.New())
	ctx, stop := context.WithCancel(context.Background())
	config, err := ctrl.GetConfig()
	if err != nil {
		fail("read the kubeconfig: %v", err)
	}
	arrival := &arrival{}
	config.Wrap(arrival.wrap)
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		fail("build the manager: %v", err)
	}
	t := &timer{
		client:    mgr.GetClient(),
		expected:  *objects,
		arrival:   arrival,
		latencies: make(map[types.NamespacedName]latency, *objects),
		done:      make(chan struct{}),
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(t); err != nil {
		fail("build the controller: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	if mgr.GetCache().WaitForCacheSync(ctx) {
		// The harness creates the objects after this line.
		report("ready", 1)
	}
	select {
	case <-t.done:
	case err := <-ended:
		fail("run the manager: it ended before all objects were reconciled: %v", err)
	case <-time.After(*limit):
		fail("reconcile %d objects: timeout after %s", *objects, *limit)
	}
	create, event := make([]float64, 0, len(t.latencies)), make([]float64, 0, len(t.latencies))
	for _, latency := range t.latencies {
		create, event = append(create, latency.createMs), append(event, latency.eventUs)
	}
	slices.Sort(create)
	slices.Sort(event)
	report("p50_ms", percentile(create, 50))
	report("p99_ms", percentile(create, 99))
	report("event_us", percentile(event, 50))
	report("objects", float64(len(create)))
	stop()
	if err := <-ended; err != nil {
		fail("stop the manager: %v", err)
	}
}

// percentile returns the smallest value that at least percent of all values do not exceed.
func percentile(sorted []float64, percent int) float64 {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

func report(metric string, value float64) {
	line, err := json.Marshal(map[string]any{"metric": metric, "value": value})
	if err != nil {
		fail("print the metric %s: %v", metric, err)
	}
	fmt.Println(string(line))
}

// fail prints a message and exits with status 1.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "latency-controller-runtime: "+format+"\n", args...)
	os.Exit(1)
}
