/** Buckets of histograms. */

/** So many of them, the first up to `start`, each `factor` times as wide as the one before. */
export const exponentialBuckets = (start: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => Number((start * factor ** at).toPrecision(12)))

/** What Prometheus' client libraries take where nobody says more. */
export const usualBuckets: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
