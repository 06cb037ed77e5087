// Command cache-controller-runtime is the Go subject of the benchmark "cache": a manager with one
// controller for Pods, whose reconciler reads each object. All options have their defaults.
//
// bench/README.md describes the protocol of the subjects.
package main

import (
	"cmp"
	"context"
	"flag"
	"slices"
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
	getPasses  = 3
	listPasses = 5
	syncLimit  = 10 * time.Minute
)

// reader reads each object once, all fields, and sends the time of the last read.
type reader struct {
	client   client.Client
	expected int
	seen     map[types.NamespacedName]struct{}
	sum      uint64
	done     chan time.Time
}

// Reconcile runs on one worker, the default, so the fields need no lock.
func (r *reader) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	var pod corev1.Pod
	if err := r.client.Get(ctx, request.NamespacedName, &pod); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if _, again := r.seen[request.NamespacedName]; again {
		return reconcile.Result{}, nil
	}
	r.seen[request.NamespacedName] = struct{}{}
	r.sum += podChecksum(&pod)
	if len(r.seen) == r.expected {
		r.done <- time.Now()
	}
	return reconcile.Result{}, nil
}

func main() {
	begin := time.Now()
	// controller-runtime registers --kubeconfig on the same flag set.
	objects := flag.Int("objects", 0, "number of Pods in the API server")
	settle := flag.Float64("settle", 30, "seconds to wait before the settled memory is read")
	started := flag.Int64("started", begin.UnixNano(), "start time of the process, in nanoseconds since 1970")
	flag.Parse()
	if *objects < 1 {
		fail("read --objects: expected a number of Pods, at least 1")
	}
	log.SetLogger(zap.New())

	ctx, stop := context.WithCancel(context.Background())
	mgr := newManager()
	r := &reader{
		client:   mgr.GetClient(),
		expected: *objects,
		seen:     make(map[types.NamespacedName]struct{}, *objects),
		done:     make(chan time.Time, 1),
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Pod{}).Complete(r); err != nil {
		fail("build the controller: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()

	select {
	case at := <-r.done:
		report("seconds", at.Sub(time.Unix(0, *started)).Seconds())
	case err := <-ended:
		fail("run the manager: it ended before all Pods were read: %v", err)
	case <-time.After(syncLimit):
		fail("read %d Pods: timeout after %s", *objects, syncLimit)
	}
	measure(ctx, r, time.Duration(*settle*float64(time.Second)))
	stop()
	if err := <-ended; err != nil {
		fail("stop the manager: %v", err)
	}
}

func newManager() ctrl.Manager {
	config, err := ctrl.GetConfig()
	if err != nil {
		fail("read the kubeconfig: %v", err)
	}
	// The metrics port is the only option without its default: concurrent runs cannot share 8080.
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		fail("build the manager: %v", err)
	}
	return mgr
}

// measure measures the memory, reads of the cache, and the memory after the reads.
func measure(ctx context.Context, r *reader, settle time.Duration) {
	time.Sleep(settle)
	report("peak_mb", memoryMB("VmHWM"))
	settled := memoryMB("VmRSS")

	keys := make([]types.NamespacedName, 0, len(r.seen))
	for key := range r.seen {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	get := 1e6 * medianSeconds(getPasses, func() { readEach(ctx, r.client, keys) }) / float64(len(keys))
	// Get always copies the object, so cold and hot reads have the same cost.
	report("get_cold_us", get)
	report("get_hot_us", get)

	var count int
	var sum uint64
	list := medianSeconds(listPasses, func() { count, sum = readAll(ctx, r.client) })
	report("list_ms", 1e3*list)
	report("settled_mb", max(settled, memoryMB("VmRSS")))
	report("objects", count)
	report("checksum", sum&checksumMask)
	if count != r.expected || sum&checksumMask != r.sum&checksumMask {
		fail("list all objects: reconciled %d objects with checksum %d, but listed %d with checksum %d",
			r.expected, r.sum&checksumMask, count, sum&checksumMask)
	}
}

func readEach(ctx context.Context, c client.Client, keys []types.NamespacedName) {
	for _, key := range keys {
		var pod corev1.Pod
		if err := c.Get(ctx, key, &pod); err != nil {
			fail("get %s from the cache: %v", key, err)
		}
	}
}

func readAll(ctx context.Context, c client.Client) (int, uint64) {
	var pods corev1.PodList
	if err := c.List(ctx, &pods); err != nil {
		fail("list Pods from the cache: %v", err)
	}
	sum := uint64(0)
	for i := range pods.Items {
		sum += podChecksum(&pods.Items[i])
	}
	return len(pods.Items), sum
}
