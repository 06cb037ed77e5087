// Command queue-controller-runtime is the Go subject of the benchmark "queue": the priority queue
// that controllers have by default, with its metrics.
//
// bench/README.md describes the protocol of the subjects.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const passes = 3

func main() {
	count := flag.Int("keys", 400_000, "number of distinct keys")
	flag.Parse()
	keys := make([]reconcile.Request, *count)
	for i := range keys {
		keys[i] = reconcile.Request{NamespacedName: types.NamespacedName{
			Namespace: fmt.Sprintf("ns-%d", i%100),
			Name:      fmt.Sprintf("object-%d", i),
		}}
	}
	done := 0
	for _, producers := range []int{1, 8} {
		taken := make([]float64, passes)
		for i := range taken {
			count := 0
			taken[i], count = pass(keys, producers, i)
			done += count
		}
		slices.Sort(taken)
		report(fmt.Sprintf("item_ns_%d", producers), taken[passes/2])
	}
	report("objects", float64(done))
}

// pass adds each key once, gets it once, and marks it as done as a controller does after a successful
// reconcile. Returns the nanoseconds per key and the number of keys.
func pass(keys []reconcile.Request, producers, number int) (float64, int) {
	queue := priorityqueue.New[reconcile.Request](fmt.Sprintf("queue-%d-%d", producers, number))
	defer queue.ShutDown()
	start := time.Now()
	var added sync.WaitGroup
	part := (len(keys) + producers - 1) / producers
	for keys := range slices.Chunk(keys, part) {
		added.Go(func() { produce(queue, keys) })
	}
	done := 0
	for range keys {
		key, _, shutDown := queue.GetWithPriority()
		if !shutDown {
			queue.Forget(key)
			queue.Done(key)
			done++
		}
	}
	taken := time.Since(start)
	added.Wait()
	return float64(taken.Nanoseconds()) / float64(max(done, 1)), done
}

// produce adds the keys: every fourth one with the priority of an initial list, the others with that
// of a change.
func produce(queue priorityqueue.PriorityQueue[reconcile.Request], keys []reconcile.Request) {
	initial, normal := -100, 0
	for i, key := range keys {
		priority := &normal
		if i%4 == 0 {
			priority = &initial
		}
		queue.AddWithOpts(priorityqueue.AddOpts{Priority: priority}, key)
	}
}

func report(metric string, value float64) {
	line, err := json.Marshal(struct {
		Metric string  `json:"metric"`
		Value  float64 `json:"value"`
	}{metric, value})
	if err != nil {
		fmt.Fprintf(os.Stderr, "queue-controller-runtime: print the metric %s: %v\n", metric, err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}
