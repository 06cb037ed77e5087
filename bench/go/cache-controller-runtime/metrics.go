package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// report prints a measurement as a line of JSON.
func report(metric string, value any) {
	line, err := json.Marshal(struct {
		Metric string `json:"metric"`
		Value  any    `json:"value"`
	}{metric, value})
	if err != nil {
		fail("print the metric %s: %v", metric, err)
	}
	fmt.Println(string(line))
}

// memoryMB returns the value of a line of /proc/self/status, such as VmRSS or VmHWM, in millions of
// bytes.
func memoryMB(name string) float64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		fail("read the memory of this process: %v", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] != name+":" {
			continue
		}
		kib, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			fail("read %s from /proc/self/status: %v", name, err)
		}
		return kib * 1024 / 1e6
	}
	fail("read %s from /proc/self/status: no such line", name)
	return 0
}

// medianSeconds runs work several times and returns the median duration.
func medianSeconds(passes int, work func()) float64 {
	taken := make([]float64, passes)
	for i := range taken {
		start := time.Now()
		work()
		taken[i] = time.Since(start).Seconds()
	}
	slices.Sort(taken)
	return taken[len(taken)/2]
}

// fail prints a message and exits with status 1.
func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "cache-controller-runtime: "+format+"\n", args...)
	os.Exit(1)
}
