package main

import corev1 "k8s.io/api/core/v1"

const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
	// Checksums have 53 bits, because JSON parsers may read numbers as doubles.
	checksumMask = 1<<53 - 1
)

// checksum returns the FNV-1a hash of the fields, each followed by a zero byte. The sum over all
// objects does not depend on their order. All subjects are tested with the cases in
// bench/checksum.json.
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

// podChecksum returns the checksum of the seven fields that every subject reads.
func podChecksum(pod *corev1.Pod) uint64 {
	image := ""
	if len(pod.Spec.Containers) > 0 {
		image = pod.Spec.Containers[0].Image
	}
	return checksum(pod.Namespace, pod.Name, string(pod.UID), pod.Spec.SchedulerName, image,
		pod.Labels["app"], string(pod.Status.Phase))
}
