package main

import corev1 "k8s.io/api/core/v1"

const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
	// Sums are cut to what every JSON reader keeps exactly.
	checksumMask = 1<<53 - 1
)

// checksum is FNV-1a over the fields, each followed by a zero byte. The sum over all objects does
// not depend on their order. bench/checksum.json holds the cases that all subjects must meet.
func checksum(fields ...string) uint64 {
	hash := uint64(fnvOffset)
	for _, field := range fields {
		for i := 0; i < len(field); i++ {
			hash = (hash ^ uint64(field[i])) * fnvPrime
		}
		hash *= fnvPrime
	}
	return hash & checksumMask
}

// podChecksum reads the seven fields that every subject reads.
func podChecksum(pod *corev1.Pod) uint64 {
	image := ""
	if len(pod.Spec.Containers) > 0 {
		image = pod.Spec.Containers[0].Image
	}
	return checksum(pod.Namespace, pod.Name, string(pod.UID), pod.Spec.SchedulerName, image,
		pod.Labels["app"], string(pod.Status.Phase))
}
