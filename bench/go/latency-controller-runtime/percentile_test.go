package main

import "testing"

func TestPercentileIsOneOfTheValues(t *testing.T) {
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(i + 1)
	}
	for percent, want := range map[int]float64{0: 1, 50: 100, 99: 198, 100: 200} {
		if got := percentile(values, percent); got != want {
			t.Errorf("percentile %d = %v, want %v", percent, got, want)
		}
	}
}
